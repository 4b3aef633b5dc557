// The two real models of models/ and what float32 says about them (tests/data/reference).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/types.h"
#include "model/model.h"

namespace samebit::test {

// models/FILE, or nullptr with one sentence in *why: ./check fetches the models, so a test then fails.
std::unique_ptr<model::Model> OpenReal(const std::string& file, std::string* why);

inline constexpr const char* kSmolLm2File = "smollm2-135m-instruct-q4_1.gguf";
inline constexpr const char* kGemma3File = "gemma-3-270m-q4_k_m.gguf";

// Figures of an engine on the text, as tests/data/reference/README.md defines them.
struct QualityFigures {
  double kl_mean = 0, kl_p99 = 0, kl_max = 0;
  double first_choice_equal = 0;   // 0..1
  double mismatch_margin_max = 0;
  double perplexity = 0;
  double perplexity_change_percent = 0;
};

struct GreedyAnswer {
  std::string user;
  std::vector<TokenId> prompt, ids;
  std::vector<float> margins;
};

inline constexpr uint32_t kReferenceTop = 32;

struct RealReference {
  std::vector<TokenId> ids;          // [positions + 1]
  uint32_t positions = 0;
  double perplexity = 0;
  std::vector<uint32_t> top_ids;     // [positions, kReferenceTop]
  std::vector<float> top_logprobs;
  std::vector<GreedyAnswer> greedy;
  QualityFigures llama_cpp;          // the same file in llama.cpp
};
// More text, for the perplexity alone: the short text's own would wander by 0.3 % with rounding noise.
struct PagesReference {
  std::vector<std::vector<TokenId>> pages;  // each scored on its own
  std::vector<float> negative_logprobs;     // of all predictions, page after page
  double perplexity = 0;
  double simulated_change_percent = 0;  // float32 with an f16 cache and int8 activations
};

// name: "smollm2" or "gemma3".
PagesReference ReadPagesReference(const std::string& name);
RealReference ReadRealReference(const std::string& name);

}  // namespace samebit::test
