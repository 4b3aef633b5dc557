// Quality of the two real, quantized models against float32 on the dequantized weights, over the text and the prompts
// of tests/data/reference. llama.cpp's figures for the same files are printed beside ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "arith/sampling.h"
#include "engine/engine.h"
#include "support/decoder_run.h"
#include "support/real_reference.h"

namespace samebit::test {
namespace {

constexpr double kKlMeanMax = 0.01;
constexpr double kFirstChoiceMin = 0.95;
constexpr double kMarginMax = 0.6;
constexpr double kPerplexityChangePercentMax = 0.5;

engine::EngineOptions Options() {
  engine::EngineOptions options;
  options.isa = kernels::BestIsa();
  options.threads = 2;
  options.prefill_chunk = 128;
  options.step_rows_max = 128;
  options.cache_bytes = 64ull << 20;
  return options;
}

struct PositionFigures {
  double kl = 0, negative_logprob = 0;
  bool first_choice_equal = false;
};

class Quality {
 public:
  Quality(const engine::Weights& weights, const RealReference& reference)
      : vocabulary_(weights.config.vocabulary), reference_(reference), figures_(reference.positions) {
    const std::span<const TokenId> tokens(reference.ids.data(), reference.positions);
    VisitDecoderLogits(weights, tokens, Options(),
                       [this](Position position, const float* logits) { Look(position, logits); });
  }

  QualityFigures Summary() const {
    QualityFigures summary;
    std::vector<double> kls;
    double nll = 0;
    for (uint32_t i = 0; i < reference_.positions; ++i) {
      kls.push_back(figures_[i].kl);
      summary.kl_mean += figures_[i].kl / reference_.positions;
      nll += figures_[i].negative_logprob / reference_.positions;
      summary.first_choice_equal += figures_[i].first_choice_equal / static_cast<double>(reference_.positions);
      const double margin =
          reference_.top_logprobs[size_t{i} * kReferenceTop] - reference_.top_logprobs[size_t{i} * kReferenceTop + 1];
      if (!figures_[i].first_choice_equal) summary.mismatch_margin_max = std::max(summary.mismatch_margin_max, margin);
    }
    std::sort(kls.begin(), kls.end());
    summary.kl_p99 = kls[kls.size() * 99 / 100];
    summary.kl_max = kls.back();
    summary.perplexity = std::exp(nll);
    summary.perplexity_change_percent = 100 * (summary.perplexity / reference_.perplexity - 1);
    return summary;
  }

 private:
  // The reference's 32 first tokens and everything else are 33 events.
  void Look(Position position, const float* logits) {
    const kernels::KernelTable& table = kernels::Kernels(kernels::BestIsa());
    const arith::LogSoftmax normalizer = table.log_softmax(logits, vocabulary_);
    PositionFigures& figures = figures_[position];
    double p_rest = 1, q_rest = 1;
    for (uint32_t k = 0; k < kReferenceTop; ++k) {
      const size_t at = size_t{position} * kReferenceTop + k;
      const double log_p = reference_.top_logprobs[at],
                   log_q = arith::LogProbability(normalizer, logits[reference_.top_ids[at]]);
      figures.kl += std::exp(log_p) * (log_p - log_q);
      p_rest -= std::exp(log_p);
      q_rest -= std::exp(log_q);
    }
    p_rest = std::max(p_rest, 1e-12);
    q_rest = std::max(q_rest, 1e-12);
    figures.kl += p_rest * std::log(p_rest / q_rest);
    figures.negative_logprob = -arith::LogProbability(normalizer, logits[reference_.ids[position + 1]]);
    figures.first_choice_equal = arith::CandidateId(table.largest_candidate(logits, vocabulary_)) ==
                                 reference_.top_ids[size_t{position} * kReferenceTop];
  }

  uint32_t vocabulary_;
  const RealReference& reference_;
  std::vector<PositionFigures> figures_;
};

void Print(const std::string& name, const QualityFigures& ours, const QualityFigures& theirs) {
  const auto line = [&](const char* what, double our_value, double their_value, const char* wanted) {
    std::printf("%-10s %-28s samebit %10.5f   llama.cpp %10.5f   %s\n", name.c_str(), what, our_value, their_value,
                wanted);
  };
  line("mean KL", ours.kl_mean, theirs.kl_mean, "under 0.01");
  line("KL, 99th percentile", ours.kl_p99, theirs.kl_p99, "");
  line("largest KL", ours.kl_max, theirs.kl_max, "");
  line("first choice equal, %", 100 * ours.first_choice_equal, 100 * theirs.first_choice_equal, "over 95");
  line("largest margin of a mismatch", ours.mismatch_margin_max, theirs.mismatch_margin_max, "at most 0.6");
  line("perplexity", ours.perplexity, theirs.perplexity, "");
  line("perplexity, change in %", ours.perplexity_change_percent, theirs.perplexity_change_percent, "");
}

// The text above is short: its perplexity wanders by 0.3 % (one standard error) with every rounding. The pages are ten
// times as long.
void CheckPerplexity(const std::string& name, const engine::Weights& weights) {
  const PagesReference reference = ReadPagesReference(name);
  const kernels::KernelTable& table = kernels::Kernels(kernels::BestIsa());
  std::vector<double> differences;
  for (const std::vector<TokenId>& page : reference.pages) {
    const std::span<const TokenId> tokens(page.data(), page.size() - 1);
    const size_t first = differences.size();
    differences.resize(first + tokens.size());
    VisitDecoderLogits(weights, tokens, Options(), [&](Position position, const float* logits) {
      const arith::LogSoftmax normalizer = table.log_softmax(logits, weights.config.vocabulary);
      differences[first + position] = -arith::LogProbability(normalizer, logits[page[position + 1]]) -
                                      reference.negative_logprobs[first + position];
    });
  }
  ASSERT_EQ(differences.size(), reference.negative_logprobs.size());
  double mean = 0, square = 0;
  for (const double difference : differences) mean += difference / static_cast<double>(differences.size());
  for (const double difference : differences) square += (difference - mean) * (difference - mean);
  const double error = std::sqrt(square) / static_cast<double>(differences.size());
  const double change = 100 * std::expm1(mean);
  std::printf("%-10s %zu predictions: perplexity %.4f in float32, samebit %+.3f %% (standard error %.3f), simulated %+.3f %%\n",
              name.c_str(), differences.size(), reference.perplexity, change, 100 * error,
              reference.simulated_change_percent);
  EXPECT_LT(std::fabs(change), kPerplexityChangePercentMax);
}

// After the reference's own tokens: where our first choice differs, float32 itself was near a tie.
void CheckForcedGreedy(const std::string& name, const engine::Weights& weights, const RealReference& reference) {
  uint32_t compared = 0, mismatches = 0;
  double margin_max = 0;
  for (const GreedyAnswer& answer : reference.greedy) {
    std::vector<TokenId> tokens = answer.prompt;
    tokens.insert(tokens.end(), answer.ids.begin(), answer.ids.end() - 1);
    std::vector<TokenId> choice(tokens.size());
    VisitDecoderLogits(weights, tokens, Options(), [&](Position position, const float* logits) {
      choice[position] = static_cast<TokenId>(arith::CandidateId(
          kernels::Kernels(kernels::BestIsa()).largest_candidate(logits, weights.config.vocabulary)));
    });
    for (size_t i = 0; i < answer.ids.size(); ++i) {
      ++compared;
      if (choice[answer.prompt.size() - 1 + i] == answer.ids[i]) continue;
      ++mismatches;
      margin_max = std::max<double>(margin_max, answer.margins[i]);
    }
  }
  std::printf("%-10s greedy after the reference's tokens: %u of %u differ, largest margin %.3f\n", name.c_str(),
              mismatches, compared, margin_max);
  EXPECT_EQ(compared, 320u);
  EXPECT_LT(mismatches, compared / 20);
  EXPECT_LE(margin_max, kMarginMax);
}

// Free running, in one batch: equal up to the first step at which float32 is not sure.
void CheckFreeGreedy(std::shared_ptr<const engine::Weights> weights, const RealReference& reference) {
  auto engine = engine::Engine::Make(weights, nullptr, Options());
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  std::map<engine::RequestId, const GreedyAnswer*> answers;
  for (const GreedyAnswer& answer : reference.greedy) {
    engine::Request request;
    request.prompt = answer.prompt;
    request.tokens_max = static_cast<uint32_t>(answer.ids.size());
    const auto id = (*engine)->Submit(request);
    ASSERT_TRUE(id.ok()) << id.error().message;
    answers[*id] = &answer;
  }
  while ((*engine)->Step()) {
  }
  for (const auto& [id, answer] : answers) {
    const auto completion = (*engine)->Take(id);
    ASSERT_TRUE(completion.has_value() && completion->ok());
    for (size_t i = 0; i < answer->ids.size() && answer->margins[i] >= kMarginMax; ++i)
      ASSERT_EQ((*completion)->choices[0].tokens[i].id, answer->ids[i]) << answer->user << ", token " << i;
  }
}

void CheckModel(const std::string& name, const char* file) {
  std::string why;
  const auto model = OpenReal(file, &why);
  ASSERT_NE(model, nullptr) << why;
  auto packed = engine::PackWeights(*model, 2);
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  const std::shared_ptr<const engine::Weights> weights = *packed;
  const RealReference reference = ReadRealReference(name);
  const QualityFigures figures = Quality(*weights, reference).Summary();
  Print(name, figures, reference.llama_cpp);
  EXPECT_LT(figures.kl_mean, kKlMeanMax);
  EXPECT_GT(figures.first_choice_equal, kFirstChoiceMin);
  EXPECT_LE(figures.mismatch_margin_max, kMarginMax);
  CheckPerplexity(name, *weights);
  CheckForcedGreedy(name, *weights, reference);
  CheckFreeGreedy(weights, reference);
}

TEST(RealQuality, smollm2_135m_q4_1_against_float32) { CheckModel("smollm2", kSmolLm2File); }
TEST(RealQuality, gemma3_270m_q4_k_m_against_float32) { CheckModel("gemma3", kGemma3File); }

}  // namespace
}  // namespace samebit::test
