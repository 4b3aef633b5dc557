#include "server/prepare_embedding.h"

namespace samebit::server {
namespace {

using openai::ApiError;

std::variant<std::vector<TokenId>, ApiError> IdsOf(const openai::Prompt& input, const ServedModel& model,
                                                   const std::string& param) {
  std::vector<TokenId> ids;
  if (const auto* text = std::get_if<std::string>(&input)) {
    Result<std::vector<TokenId>> encoded = text::EmbeddingIds(*model.tokenizer, *model.spec, *text);
    if (!encoded.ok()) return ToApiError(encoded.error(), param);
    ids = std::move(encoded).value();
  } else {
    ids = std::get<std::vector<TokenId>>(input);
  }
  if (ids.empty()) return openai::InvalidValue(param, param + ": it is empty; give it at least one token");
  if (ids.size() > model.embedding_tokens_max) {
    return openai::InvalidValue(param,
                                param + ": this model reads at most " + std::to_string(model.embedding_tokens_max) +
                                    " tokens of a text, and this one has " + std::to_string(ids.size()) +
                                    "; a text is never cut in silence",
                                "context_length_exceeded");
  }
  return ids;
}

}  // namespace

contract::Fingerprint EmbeddingFingerprintOf(const ServedModel& model, const openai::VectorForm& form) {
  contract::SemanticPart semantic = model.semantic;
  semantic.chat_template_sha256.clear();  // no chat
  semantic.embedding = contract::EmbeddingPart{PoolingName(form.pooling), form.normalized};
  return contract::MakeFingerprint(semantic, *model.fixed);
}

std::variant<PreparedEmbedding, ApiError> PrepareEmbedding(openai::EmbeddingRequest request,
                                                           const PrepareInput& input) {
  const ServedModel& model = input.model;
  if (const auto error = CheckModel(model, request.common.model)) return *error;
  if (request.dimensions && *request.dimensions != model.vector_width) {
    return openai::Unsupported("dimensions", "dimensions: this model's vectors have " +
                                                 std::to_string(model.vector_width) +
                                                 "; a part of one would be another vector");
  }
  PreparedEmbedding prepared;
  openai::EmbeddingAnswer& answer = prepared.answer;
  answer.form = model.vector_form;
  if (request.pooling) {
    answer.form.pooling = *request.pooling;
    answer.form.pooling_source = "request";
  }
  if (request.normalize) {
    answer.form.normalized = *request.normalize;
    answer.form.normalized_source = "request";
  }
  if (answer.form.pooling == Pooling::kFirst && !model.has_first_pooling) {
    return openai::Unsupported("pooling", "pooling: the first row of a model that generates has seen the first token "
                                          "only; use mean or last");
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const std::string param = request.inputs.size() == 1 ? "input" : "input[" + std::to_string(i) + "]";
    auto ids = IdsOf(request.inputs[i], model, param);
    if (const auto* error = std::get_if<ApiError>(&ids)) return *error;
    answer.prompt_tokens += std::get<0>(ids).size();
    prepared.requests.push_back({std::move(std::get<0>(ids)), answer.form.pooling, answer.form.normalized});
  }
  const contract::Fingerprint fingerprint = EmbeddingFingerprintOf(model, answer.form);
  if (const auto error = CheckPins(request.common.pins, model, fingerprint)) return *error;
  answer.model = model.id;
  answer.base64 = request.base64;
  answer.system_fingerprint = contract::SystemFingerprint(model.version, fingerprint);
  openai::Reproducibility& says = answer.reproducibility;
  says.tier_requested = says.tier_effective = contract::TierNumber(request.common.tier);
  says.inference_fingerprint = fingerprint.inference_fingerprint;
  says.semantic_sha256 = fingerprint.semantic_sha256;
  says.numeric_sha256 = fingerprint.numeric_sha256;
  says.deployment_sha256 = fingerprint.deployment_sha256;
  says.ignored_fields = std::move(request.common.ignored_fields);
  return prepared;
}

ApiError GeneratesNothing(const ServedModel& model) {
  ApiError error = openai::InvalidValue("model",
                                        openai::Quoted(model.id) +
                                            " is a sentence encoder and generates no text; it answers /v1/embeddings",
                                        "model_not_generative");
  error.status = 404;
  return error;
}

}  // namespace samebit::server
