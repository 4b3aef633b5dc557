#include "openai/embedding_answer.h"

#include <bit>

namespace samebit::openai {
namespace {

// RFC 4648 of the numbers' bytes, little endian.
std::string Base64(const std::vector<float>& numbers) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes, text;
  for (const float number : numbers)
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(std::bit_cast<uint32_t>(number) >> shift);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (size_t i = 0; i < 4; ++i) text += at + i <= bytes.size() ? kLetters[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

void WriteVector(JsonWriter& json, const std::vector<float>& vector, bool base64) {
  if (base64) {
    json.Text(Base64(vector));
    return;
  }
  json.BeginArray();
  for (const float number : vector) json.Number(number);
  json.EndArray();
}

void WriteReproducibility(JsonWriter& json, const EmbeddingAnswer& answer) {
  const Reproducibility& from = answer.reproducibility;
  json.BeginObject();
  json.Key("tier_requested").Number(from.tier_requested).Key("tier_effective").Number(from.tier_effective);
  json.Key("inference_fingerprint").Text(from.inference_fingerprint);
  json.Key("semantic_sha256").Text(from.semantic_sha256).Key("numeric_sha256").Text(from.numeric_sha256);
  json.Key("deployment_sha256").Text(from.deployment_sha256);
  WriteVectorForm(json, answer.form);
  json.Key("cache").Text("bypass").Key("verified").Text("none");
  if (!from.ignored_fields.empty()) {
    json.Key("ignored_fields").BeginArray();
    for (const std::string& name : from.ignored_fields) json.Text(name);
    json.EndArray();
  }
  json.EndObject();
}

}  // namespace

void WriteVectorForm(JsonWriter& json, const VectorForm& form) {
  json.Key("pooling").BeginObject().Key("value").Text(PoolingName(form.pooling));
  json.Key("source").Text(form.pooling_source).EndObject();
  json.Key("normalized").BeginObject().Key("value").Bool(form.normalized);
  json.Key("source").Text(form.normalized_source).EndObject();
}

std::string EmbeddingAnswerJson(const EmbeddingAnswer& answer) {
  JsonWriter json;
  json.BeginObject().Key("object").Text("list").Key("data").BeginArray();
  for (size_t i = 0; i < answer.vectors.size(); ++i) {
    json.BeginObject().Key("object").Text("embedding").Key("index").Number(i).Key("embedding");
    WriteVector(json, answer.vectors[i], answer.base64);
    json.EndObject();
  }
  json.EndArray().Key("model").Text(answer.model).Key("system_fingerprint").Text(answer.system_fingerprint);
  json.Key("usage").BeginObject().Key("prompt_tokens").Number(answer.prompt_tokens);
  json.Key("total_tokens").Number(answer.prompt_tokens).EndObject();
  json.Key("reproducibility");
  WriteReproducibility(json, answer);
  return json.EndObject().Finish();
}

}  // namespace samebit::openai
