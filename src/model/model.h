// A model on disk: its configuration, its tensors (mapped, never copied) and its digests.
//
// For: engine (weights), text (tokenizer spec), contract (digests). Not for: computing anything.
// Open() reads a GGUF file (v2, v3) or a Hugging Face folder (config.json, *.safetensors, tokenizer.json).
// A Model is immutable after Open and may be used from any thread. Files are strangers' bytes: every size, offset,
// count and name is checked before use; failures carry file, place, expected and found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arith/number_formats.h"
#include "base/digest.h"
#include "base/pooling.h"
#include "base/result.h"
#include "base/tokenizer_spec.h"

namespace samebit::model {

enum class Activation { kSilu, kGeluTanh, kGeluErf };

// A decoder predicts the next token; an encoder reads a whole text at once and gives a row per token.
enum class ModelKind { kDecoder, kEncoder };

struct RopeScaling {
  enum class Kind { kNone, kLinear, kLlama3 } kind = Kind::kNone;
  double factor = 1;                 // kLinear, kLlama3
  double low_frequency_factor = 1;   // kLlama3
  double high_frequency_factor = 4;  // kLlama3
  uint32_t original_context = 8192;  // kLlama3

  bool operator==(const RopeScaling&) const = default;
};

// One transformer: a decoder, or an encoder of BERT's shape (learned positions, LayerNorm after each branch, biases, no
// gate). A family file sets the fields.
struct ModelConfig {
  std::string family;  // "llama", "mistral", "qwen2", "qwen3", "gemma3", "bert"
  ModelKind kind = ModelKind::kDecoder;
  std::string name;    // from the file, for people
  uint32_t layers = 0;
  uint32_t width = 0;  // embedding length
  uint32_t ffn_width = 0;
  uint32_t heads = 0;
  uint32_t kv_heads = 0;  // divides heads
  uint32_t head_size = 0;
  uint32_t vocabulary = 0;
  uint32_t context = 0;  // tokens the model was trained for; of an encoder with a word on it, the longest text
  float norm_epsilon = 0;
  Activation activation = Activation::kSilu;
  bool qkv_bias = false;        // Qwen2
  bool qk_norm = false;         // Qwen3, Gemma 3: RMSNorm of each query and key head
  bool post_norms = false;      // Gemma 3: a norm after attention and after the feed-forward, before each residual add
  bool tied_embedding = false;  // the output matrix is the embedding
  double rope_base = 10000;
  double rope_base_local = 10000;  // layers with a sliding window (Gemma 3)
  RopeScaling rope_scaling;        // global layers only
  // [head_size / 2], or empty: each divides the rotation frequency of its pair, in global layers. GGUF files of Llama 3
  // carry the scaling in this form (rope_freqs.weight) instead of rope_scaling; never both.
  std::vector<float> rope_frequency_factors;
  uint32_t sliding_window = 0;       // keys visible to a local layer, the token itself included; 0: none
  std::vector<bool> layer_is_local;  // [layers]; all false where there is no window
  float embedding_scale = 1;         // Gemma 3: sqrt(width) rounded as the training code does
  float attention_scale = 0;         // multiplies the query: 1/sqrt(head_size) or query_pre_attn_scalar^-0.5
  uint32_t positions = 0;            // encoders: rows of the learned position embedding
  uint32_t token_types = 0;          // encoders: rows of the token type embedding; a text is type 0
  // What the checkpoint says of its text vectors (sentence-transformers' modules.json); nothing where it says nothing.
  std::optional<Pooling> pooling;
  std::optional<bool> normalized_vectors;

  bool operator==(const ModelConfig&) const = default;
};

// A weight as stored. `bytes` points into the mapped file and lives as long as the Model.
struct Tensor {
  std::string name;  // the name in the file
  arith::WeightType type = arith::WeightType::kF32;
  uint64_t rows = 0;     // outputs; 1 for a vector
  uint64_t columns = 0;  // inputs, contiguous; a whole number of blocks
  std::span<const std::byte> bytes;
};

// What a tensor is for; one list for every family and file format.
enum class Role {
  kEmbedding,
  kOutput,
  kOutputNorm,  // layer ignored
  kAttentionNorm,
  kQuery,
  kKey,
  kValue,
  kAttentionOutput,  // per layer
  kQueryBias,
  kKeyBias,
  kValueBias,
  kQueryNorm,
  kKeyNorm,
  kAttentionPostNorm,
  kFfnNorm,
  kFfnGate,
  kFfnUp,
  kFfnDown,
  kFfnPostNorm,
  // Encoders. kAttentionNorm and kFfnNorm are theirs too, after the residual add.
  kTokenTypeEmbedding,
  kPositionEmbedding,
  kEmbeddingNorm,
  kEmbeddingNormBias,  // layer ignored
  kAttentionOutputBias,
  kAttentionNormBias,
  kFfnUpBias,
  kFfnDownBias,
  kFfnNormBias,  // per layer
};
const char* RoleName(Role role);

// How the rows of a Query or Key matrix are ordered in the file. The engine always computes in half-split order, so
// that equal weights give equal bits whatever file format they came in.
enum class RopeLayout { kHalfSplit, kInterleaved };  // kInterleaved: GGUF files of the llama family

struct FileDigest {
  std::string path;  // relative to the model folder; the file's own name for GGUF
  uint64_t bytes = 0;
  Sha256Digest sha256;
};

class Model {
 public:
  virtual ~Model() = default;

  virtual const ModelConfig& config() const = 0;
  virtual const TokenizerSpec& tokenizer() const = 0;
  virtual const CheckpointSampling& sampling() const = 0;
  virtual const std::string& path() const = 0;

  // The tensor that fills a role, or nullptr where the model has none. Open() has checked that every role the
  // configuration needs is present with the right shape.
  virtual const Tensor* Find(Role role, uint32_t layer) const = 0;
  virtual RopeLayout rope_layout() const = 0;
  // True where norm weights are stored as w and used as 1 + w (Hugging Face Gemma).
  virtual bool norms_add_one() const = 0;
  virtual std::span<const Tensor> tensors() const = 0;

  // SHA-256 of every file of the model, sorted by path; reads the files once (1.4 GB/s), so not part of Open().
  virtual Result<std::vector<FileDigest>> Digests() const = 0;

  // Tells the operating system that the file's pages are no longer needed (after weights were packed).
  virtual void ReleasePages() const = 0;
};

// path: a .gguf file or a Hugging Face folder.
// Failures: kNotFound, kIo, kMalformed, kUnsupported (a family, tensor type or rope scaling that this build lacks),
// kTooLarge.
Result<std::unique_ptr<Model>> Open(const std::string& path);

}  // namespace samebit::model
