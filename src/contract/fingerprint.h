// The fingerprint document (samebit.fingerprint/1): what runs, in three parts, each with its own SHA-256.
//
//   semantic    what is computed: weights, tokenizer, templates, effective sampling, length, stops
//   numeric     in what arithmetic
//   deployment  where and by what build
//
// inference_fingerprint is SHA-256 over the canonical JSON of the whole. Floats are decimal strings and 64-bit integers
// are strings. Equal semantic and numeric parts mean equal bits for samebit's own engine; any other engine needs all
// three. An empty string below means "there is none": the field is left out of the document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/tokenizer_spec.h"
#include "base/types.h"

namespace samebit::contract {

struct SamplingPart {
  float temperature = 0;
  uint32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  float repetition_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  std::vector<std::pair<TokenId, float>> logit_bias;  // ids ascending
  uint32_t beam_width = 0;
  uint64_t seed = 0;
};

// Of a text's vector, in place of sampling, length and stops.
struct EmbeddingPart {
  std::string pooling;  // "mean", "cls", "last"
  bool normalized = true;
};

struct SemanticPart {
  std::string model_sha256;  // CombineFileDigests
  std::string tokenizer_sha256;
  std::string chat_template_sha256;
  std::string prompt_template_sha256;
  std::string dtype;
  std::string quantization;
  std::string adapter_sha256;
  SamplingPart sampling;
  std::string response_format_sha256;
  uint32_t max_tokens = 0;
  uint32_t min_tokens = 0;
  std::vector<std::string> stop;
  std::vector<TokenId> stop_token_ids;
  std::optional<EmbeddingPart> embedding = {};  // present: the fields from `sampling` on are left out
};

struct NumericPart {
  std::string arithmetic;  // "samebit-arith/1"
  std::string kv_cache_dtype;
  std::string reduction_leaf;
  std::string reduction_tree;
  bool batch_invariance = true;
  std::string self_test_sha256;
};

struct DeploymentPart {
  std::string engine_name, engine_version, engine_commit, engine_compiler, engine_flags;
  std::vector<std::pair<std::string, std::string>> libraries;  // name, version
  std::string cpu_model, isa, gpu_model;
  uint32_t threads = 1;
  uint32_t tensor_parallel_size = 1;
  uint32_t chunked_prefill = 0;  // prompt tokens of one pass
  uint32_t max_num_seqs = 0;
  uint32_t kv_page_tokens = 0;
  bool prefix_cache = true;
  std::string container_image_digest, deployment_version;
};

// The parts that stay for the life of a process, in canonical form.
class FixedParts {
 public:
  FixedParts(const NumericPart& numeric, const DeploymentPart& deployment);
  const std::string& numeric_json() const { return numeric_json_; }
  const std::string& deployment_json() const { return deployment_json_; }
  const std::string& numeric_sha256() const { return numeric_sha256_; }
  const std::string& deployment_sha256() const { return deployment_sha256_; }

 private:
  std::string numeric_json_, deployment_json_, numeric_sha256_, deployment_sha256_;
};

struct Fingerprint {
  std::string document;               // canonical JSON of the whole
  std::string inference_fingerprint;  // "sha256:<hex>"
  std::string semantic_sha256, numeric_sha256, deployment_sha256;  // hex
};

Fingerprint MakeFingerprint(const SemanticPart& semantic, const FixedParts& fixed);

// "samebit-<version>-<16 hex>": OpenAI's system_fingerprint.
std::string SystemFingerprint(const std::string& version, const Fingerprint& fingerprint);

// The fields in which two documents differ, as paths ("semantic.sampling.seed"), in order. Text that is not JSON
// differs as a whole ("").
std::vector<std::string> DifferingFields(const std::string& document, const std::string& other);

// One digest for a model of several files, as OpenSSF model signing forms the digest of its statement's subject:
// SHA-256 over the files' SHA-256, as bytes, in order of their paths.
std::string CombineFileDigests(std::vector<std::pair<std::string, Sha256Digest>> files);

// One digest for a tokenizer, whatever file it came from: over every field that decides about ids or text, each with its
// length before it. Not over the chat template, which has its own.
std::string TokenizerSha256(const TokenizerSpec& spec);

}  // namespace samebit::contract
