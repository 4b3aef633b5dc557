#include "openai/embedding_request.h"

#include "base/limits.h"

namespace samebit::openai {
namespace {

namespace json = boost::json;

void ReadEncoding(FieldReader& fields, EmbeddingRequest& request) {
  const std::optional<std::string> format = fields.Text("encoding_format");
  if (!format || *format == "float") return;
  request.base64 = *format == "base64";
  if (!request.base64)
    fields.Fail(InvalidValue("encoding_format", "encoding_format: expected float or base64, found " + Quoted(*format)));
}

void ReadPooling(FieldReader& fields, EmbeddingRequest& request) {
  const std::optional<std::string> pooling = fields.Text("pooling");
  if (!pooling) return;
  request.pooling = ParsePooling(*pooling);
  if (!request.pooling)
    fields.Fail(InvalidValue("pooling", "pooling: expected mean, cls or last, found " + Quoted(*pooling)));
}

}  // namespace

std::variant<EmbeddingRequest, ApiError> ParseEmbeddingRequest(const json::value& body, const ParseRules& rules) {
  if (!body.is_object()) return NotAnObject(body);
  FieldReader fields(body.get_object(), "");
  EmbeddingRequest request;
  ReadModelTierAndPins(fields, rules, request.common);
  ReadPrompts(fields, {"input", "texts", rules.vocabulary, limits::kEmbeddingInputsMax}, request.inputs);
  ReadEncoding(fields, request);
  request.dimensions = fields.Whole("dimensions", 1, limits::kWidthMax);
  ReadPooling(fields, request);
  request.normalize = fields.Bool("normalize");
  FinishFields(fields, request.common);
  if (fields.error()) return *fields.error();
  return request;
}

}  // namespace samebit::openai
