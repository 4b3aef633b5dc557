#include "contract/fingerprint.h"

#include <algorithm>
#include <set>

#include "base/decimal.h"
#include "base/json_reader.h"
#include "contract/canonical_json.h"

namespace samebit::contract {
namespace {

namespace json = boost::json;

void Put(json::object& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

json::object SamplingJson(const SamplingPart& sampling) {
  json::object object;
  object["temperature"] = Decimal(sampling.temperature);
  object["top_k"] = sampling.top_k;
  object["top_p"] = Decimal(sampling.top_p);
  object["min_p"] = Decimal(sampling.min_p);
  object["repetition_penalty"] = Decimal(sampling.repetition_penalty);
  object["presence_penalty"] = Decimal(sampling.presence_penalty);
  object["frequency_penalty"] = Decimal(sampling.frequency_penalty);
  json::object bias;
  for (const auto& [id, value] : sampling.logit_bias) bias[std::to_string(id)] = Decimal(value);
  object["logit_bias"] = std::move(bias);
  object["beam_width"] = sampling.beam_width;
  object["seed"] = std::to_string(sampling.seed);
  return object;
}

json::object SemanticJson(const SemanticPart& semantic) {
  json::object object;
  Put(object, "model_sha256", semantic.model_sha256);
  Put(object, "tokenizer_sha256", semantic.tokenizer_sha256);
  Put(object, "chat_template_sha256", semantic.chat_template_sha256);
  Put(object, "prompt_template_sha256", semantic.prompt_template_sha256);
  Put(object, "dtype", semantic.dtype);
  Put(object, "quantization", semantic.quantization);
  Put(object, "adapter_sha256", semantic.adapter_sha256);
  if (semantic.embedding) {
    json::object embedding;
    embedding["normalized"] = semantic.embedding->normalized;
    embedding["pooling"] = semantic.embedding->pooling;
    object["embedding"] = std::move(embedding);
    return object;
  }
  object["sampling"] = SamplingJson(semantic.sampling);
  Put(object, "response_format_sha256", semantic.response_format_sha256);
  object["max_tokens"] = semantic.max_tokens;
  object["min_tokens"] = semantic.min_tokens;
  json::array stop, ids;
  for (const std::string& text : semantic.stop) stop.emplace_back(text);
  for (const TokenId id : semantic.stop_token_ids) ids.emplace_back(id);
  object["stop"] = std::move(stop);
  object["stop_token_ids"] = std::move(ids);
  return object;
}

json::object NumericJson(const NumericPart& numeric) {
  json::object object, reduction;
  Put(object, "arithmetic", numeric.arithmetic);
  Put(object, "kv_cache_dtype", numeric.kv_cache_dtype);
  Put(reduction, "leaf", numeric.reduction_leaf);
  Put(reduction, "tree", numeric.reduction_tree);
  object["reduction"] = std::move(reduction);
  object["batch_invariance"] = numeric.batch_invariance;
  Put(object, "self_test_sha256", numeric.self_test_sha256);
  return object;
}

json::object DeploymentJson(const DeploymentPart& deployment) {
  json::object object, engine, libraries, hardware, scheduler;
  Put(engine, "name", deployment.engine_name);
  Put(engine, "version", deployment.engine_version);
  Put(engine, "commit", deployment.engine_commit);
  Put(engine, "compiler", deployment.engine_compiler);
  Put(engine, "flags", deployment.engine_flags);
  for (const auto& [name, version] : deployment.libraries) libraries[name] = version;
  Put(hardware, "cpu_model", deployment.cpu_model);
  Put(hardware, "isa", deployment.isa);
  Put(hardware, "gpu_model", deployment.gpu_model);
  hardware["threads"] = deployment.threads;
  hardware["tensor_parallel_size"] = deployment.tensor_parallel_size;
  scheduler["chunked_prefill"] = deployment.chunked_prefill;
  scheduler["max_num_seqs"] = deployment.max_num_seqs;
  scheduler["kv_page_tokens"] = deployment.kv_page_tokens;
  scheduler["prefix_cache"] = deployment.prefix_cache;
  object["engine"] = std::move(engine);
  object["libraries"] = std::move(libraries);
  object["hardware"] = std::move(hardware);
  object["scheduler"] = std::move(scheduler);
  Put(object, "container_image_digest", deployment.container_image_digest);
  Put(object, "deployment_version", deployment.deployment_version);
  return object;
}

// Leaves and emptied containers are compared; a field that one side lacks is named by its own path.
void Differ(const json::value* a, const json::value* b, const std::string& path, std::vector<std::string>& out) {
  if (a != nullptr && b != nullptr && a->is_object() && b->is_object()) {
    std::set<std::string> keys;
    for (const auto& member : a->get_object()) keys.insert(std::string(member.key()));
    for (const auto& member : b->get_object()) keys.insert(std::string(member.key()));
    for (const std::string& key : keys)
      Differ(a->get_object().if_contains(key), b->get_object().if_contains(key), path.empty() ? key : path + "." + key,
             out);
    return;
  }
  if (a == nullptr || b == nullptr || CanonicalJson(*a) != CanonicalJson(*b)) out.push_back(path);
}

}  // namespace

FixedParts::FixedParts(const NumericPart& numeric, const DeploymentPart& deployment)
    : numeric_json_(CanonicalJson(NumericJson(numeric))),
      deployment_json_(CanonicalJson(DeploymentJson(deployment))),
      numeric_sha256_(Sha256::Of(numeric_json_).hex()),
      deployment_sha256_(Sha256::Of(deployment_json_).hex()) {}

Fingerprint MakeFingerprint(const SemanticPart& semantic, const FixedParts& fixed) {
  const std::string semantic_json = CanonicalJson(SemanticJson(semantic));
  Fingerprint fingerprint;
  // The keys of the whole in canonical order.
  fingerprint.document = "{\"deployment\":" + fixed.deployment_json() + ",\"numeric\":" + fixed.numeric_json() +
                         ",\"schema\":\"samebit.fingerprint/1\",\"semantic\":" + semantic_json + "}";
  fingerprint.inference_fingerprint = "sha256:" + Sha256::Of(fingerprint.document).hex();
  fingerprint.semantic_sha256 = Sha256::Of(semantic_json).hex();
  fingerprint.numeric_sha256 = fixed.numeric_sha256();
  fingerprint.deployment_sha256 = fixed.deployment_sha256();
  return fingerprint;
}

std::string SystemFingerprint(const std::string& version, const Fingerprint& fingerprint) {
  return "samebit-" + version + "-" + fingerprint.inference_fingerprint.substr(std::string("sha256:").size(), 16);
}

std::vector<std::string> DifferingFields(const std::string& document, const std::string& other) {
  const auto a = ReadJson(document, "fingerprint"), b = ReadJson(other, "fingerprint");
  std::vector<std::string> fields;
  Differ(a.ok() ? &a.value() : nullptr, b.ok() ? &b.value() : nullptr, "", fields);
  return fields;
}

std::string CombineFileDigests(std::vector<std::pair<std::string, Sha256Digest>> files) {
  std::sort(files.begin(), files.end());
  Sha256 all;
  for (const auto& [path, digest] : files) all.Update(digest.bytes.data(), digest.bytes.size());
  return all.Finish().hex();
}

}  // namespace samebit::contract
