// The anchor: the engine's raw logits equal, bit for bit, a plain scalar forward pass written straight from arith, for
// every family and weight type, whatever the instruction set, threads, chunks, pages, cache type and parallel size.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/forward/linear.h"
#include "support/decoder_run.h"
#include "support/reference_forward.h"
#include "support/tiny_models.h"

namespace samebit::test {
namespace {

using engine::EngineOptions;
using kernels::CacheType;

class Law : public testing::TestWithParam<TinyModel> {};

EngineOptions Options(kernels::Isa isa, uint32_t threads, uint32_t chunk, CacheType cache_type, uint32_t page_tokens) {
  EngineOptions options;
  options.isa = isa;
  options.threads = threads;
  options.prefill_chunk = chunk;
  options.cache_type = cache_type;
  options.page_tokens = page_tokens;
  return options;
}

// The first position whose logits differ, or -1.
int64_t FirstDifference(const std::vector<float>& a, const std::vector<float>& b, uint32_t vocabulary) {
  EXPECT_EQ(a.size(), b.size());
  for (size_t at = 0; at < a.size(); at += vocabulary)
    if (std::memcmp(&a[at], &b[at], vocabulary * sizeof(float)) != 0) return static_cast<int64_t>(at / vocabulary);
  return -1;
}

// Longer than two attention splits, with every token of the vocabulary.
std::vector<TokenId> LongSequence(uint32_t count, uint32_t vocabulary) {
  std::vector<TokenId> tokens;
  for (uint32_t i = 0; i < count; ++i) tokens.push_back(static_cast<TokenId>((i * 7919u + i / 270) % vocabulary));
  return tokens;
}

// Tiny K-quants: one super-block of inputs, two in the widest matrix.
bool HasOneUnit(const engine::Weights& weights) {
  const arith::TreeShape& shape = weights.layers[0].attention_output.shape;
  return shape.inputs == shape.unit;
}

TEST_P(Law, logits_equal_the_plain_forward_pass_on_every_instruction_set_and_in_every_chunk) {
  const auto model = OpenTiny(GetParam());
  const auto weights = PackTiny(GetParam());
  const uint32_t vocabulary = weights->config.vocabulary;
  const std::vector<TokenId> tokens = ReadTinyExpected(GetParam().name).prompt;
  for (CacheType cache_type : {CacheType::kF16, CacheType::kF32}) {
    const std::vector<float> law = ReferenceForward(*model, tokens, cache_type);
    for (kernels::Isa isa : kernels::AvailableIsas()) {
      const EngineOptions runs[] = {Options(isa, 1, 256, cache_type, 64), Options(isa, 1, 1, cache_type, 16),
                                    Options(isa, 2, 7, cache_type, 256), Options(isa, 3, 31, cache_type, 32)};
      for (const EngineOptions& options : runs) {
        EXPECT_EQ(FirstDifference(law, DecoderLogits(*weights, tokens, options), vocabulary), -1)
            << "first position that differs; isa " << kernels::IsaName(isa) << ", threads " << options.threads
            << ", chunk " << options.prefill_chunk << ", cache " << (cache_type == CacheType::kF16 ? "f16" : "f32");
      }
    }
  }
}

TEST_P(Law, contexts_of_several_attention_splits_equal_it_too) {
  const auto model = OpenTiny(GetParam());
  const auto weights = PackTiny(GetParam());
  const uint32_t vocabulary = weights->config.vocabulary;
  const std::vector<TokenId> tokens = LongSequence(560, vocabulary);
  const std::vector<float> law = ReferenceForward(*model, tokens, CacheType::kF16);
  for (kernels::Isa isa : kernels::AvailableIsas())
    EXPECT_EQ(
        FirstDifference(law, DecoderLogits(*weights, tokens, Options(isa, 2, 97, CacheType::kF16, 16)), vocabulary), -1)
        << "isa " << kernels::IsaName(isa);
  EXPECT_EQ(
      FirstDifference(law, DecoderLogits(*weights, tokens, Options(kernels::BestIsa(), 1, 300, CacheType::kF16, 64)),
                      vocabulary),
      -1);
}

TEST(Splits, shared_by_the_workers_of_a_decode_step_equal_it_too) {
  for (const TinyModel& tiny :
       {TinyModel{"llama-tied", false}, TinyModel{"gemma3", false}, TinyModel{"llama-q8_0", false}}) {
    const auto weights = PackTiny(tiny);
    const std::vector<TokenId> tokens = LongSequence(530, weights->config.vocabulary);
    const std::vector<float> law = ReferenceForward(*OpenTiny(tiny), tokens, CacheType::kF16);
    const std::vector<float> logits =
        DecoderLogits(*weights, tokens, Options(kernels::BestIsa(), 2, 1, CacheType::kF16, 128));
    EXPECT_EQ(FirstDifference(law, logits, weights->config.vocabulary), -1) << TestName(tiny);
  }
}

TEST_P(Law, parallel_ranks_give_the_same_bits) {
  const auto weights = PackTiny(GetParam());
  const uint32_t vocabulary = weights->config.vocabulary;
  const std::vector<TokenId> tokens = ReadTinyExpected(GetParam().name).prompt;
  const std::vector<float> law = ReferenceForward(*OpenTiny(GetParam()), tokens, CacheType::kF16);
  uint32_t shared = 0;
  for (uint32_t ranks : {2u, 4u, 8u}) {
    if (!engine::CheckTensorParallel(*weights, ranks).ok()) continue;
    ++shared;
    EngineOptions options = Options(kernels::BestIsa(), 2, 20, CacheType::kF16, 64);
    options.tensor_parallel = ranks;
    EXPECT_EQ(FirstDifference(law, DecoderLogits(*weights, tokens, options), vocabulary), -1) << ranks << " ranks";
  }
  // A matrix of one super-block has nothing to share; the engine refuses such a parallel size.
  EXPECT_EQ(shared > 0, !HasOneUnit(*weights));
}

TEST_P(Law, the_order_dependent_arm_differs) {
  const auto weights = PackTiny(GetParam());
  const std::vector<TokenId> tokens = ReadTinyExpected(GetParam().name).prompt;
  const std::vector<float> law = ReferenceForward(*OpenTiny(GetParam()), tokens, CacheType::kF16);
  EngineOptions options = Options(kernels::BestIsa(), 2, 31, CacheType::kF16, 64);
  options.reduction = engine::Reduction::kControl;
  // Between two units there is only one order, so the arm needs a matrix of at least three.
  const bool differs = FirstDifference(law, DecoderLogits(*weights, tokens, options), weights->config.vocabulary) != -1;
  EXPECT_EQ(differs, !HasOneUnit(*weights));
}

INSTANTIATE_TEST_SUITE_P(tiny, Law, testing::ValuesIn(TinyModels()),
                         [](const testing::TestParamInfo<TinyModel>& info) { return TestName(info.param); });

TEST(Formats, gguf_and_folder_of_one_model_give_equal_bits) {
  for (const std::string name : {"llama-tied", "qwen2", "qwen3", "gemma3"}) {
    const auto gguf = PackTiny({name, false}), folder = PackTiny({name, true});
    const std::vector<TokenId> tokens = ReadTinyExpected(name).prompt;
    const EngineOptions options = Options(kernels::BestIsa(), 1, 256, CacheType::kF16, 64);
    EXPECT_EQ(FirstDifference(DecoderLogits(*gguf, tokens, options), DecoderLogits(*folder, tokens, options),
                              gguf->config.vocabulary),
              -1)
        << name;
  }
}

}  // namespace
}  // namespace samebit::test
