#include "openai/response_format.h"

#include <boost/json/serialize.hpp>

#include <algorithm>

#include "base/json_kind.h"
#include "base/limits.h"
#include "contract/canonical_json.h"

namespace samebit::openai {
namespace {

namespace json = boost::json;

void RefuseUnknown(FieldReader& reader) {
  for (const std::string& name : reader.Unknown())
    reader.Fail(Unsupported(reader.Path(name).substr(0, 128), reader.Path(name).substr(0, 128) + ": unknown field"));
}

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

void ReadSchema(FieldReader& format, ResponseFormat& out) {
  const json::object* object = format.Object("json_schema");
  const std::string path = format.Path("json_schema");
  if (object == nullptr) {
    format.Fail(InvalidValue(path, path + ": expected an object with name and schema", "missing_required_parameter"));
    return;
  }
  FieldReader reader(*object, path);
  const std::string name = reader.Text("name").value_or("");
  if (!IsName(name)) {
    reader.Fail(InvalidValue(reader.Path("name"), reader.Path("name") +
                                                      ": expected 1 to 64 letters, digits, underscores or dashes"));
  }
  reader.Text("description");
  reader.Bool("strict");  // the grammar is never less than strict
  const json::value* schema = reader.Take("schema");
  if (schema == nullptr || !schema->is_object()) {
    reader.Fail(InvalidValue(reader.Path("schema"),
                             reader.Path("schema") + ": expected an object, found " + JsonKindName(schema),
                             schema == nullptr ? "missing_required_parameter" : "invalid_type"));
  } else {
    out.schema_json = json::serialize(*schema);
  }
  RefuseUnknown(reader);
  if (reader.error()) format.Fail(*reader.error());
}

}  // namespace

void ReadResponseFormat(FieldReader& fields, ResponseFormat& out) {
  const json::object* object = fields.Object("response_format");
  if (object == nullptr) return;
  FieldReader format(*object, "response_format");
  const std::string type = format.Text("type").value_or("");
  if (type == "json_schema") {
    out.kind = ResponseFormat::Kind::kJsonSchema;
    ReadSchema(format, out);
    out.retries = format.Whole("samebit_retries", 0, limits::kAttemptsMax - 1);
  } else if (type == "json_object") {
    out.kind = ResponseFormat::Kind::kJsonObject;
  } else if (type != "text") {
    format.Fail(InvalidValue("response_format.type",
                             "response_format.type: expected text, json_object or json_schema, found " + Quoted(type)));
  }
  RefuseUnknown(format);
  if (format.error()) {
    fields.Fail(*format.error());
    return;
  }
  if (out.kind == ResponseFormat::Kind::kText) return;
  json::object canonical = *object;
  // The order of a schema's properties is the order in which they are written: it must not be lost.
  if (out.kind == ResponseFormat::Kind::kJsonSchema)
    canonical.at("json_schema").get_object()["schema"] = out.schema_json;
  out.canonical_json = contract::CanonicalJson(canonical);
}

}  // namespace samebit::openai
