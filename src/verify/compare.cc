#include "verify/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace samebit::verify {
namespace {

using engine::TokenRecord;

bool SameBits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool SameLogprobs(const TokenRecord& a, const TokenRecord& b) {
  if (!SameBits(a.logprob, b.logprob) || !SameBits(a.margin, b.margin) || a.top.size() != b.top.size()) return false;
  for (size_t i = 0; i < a.top.size(); ++i)
    if (a.top[i].id != b.top[i].id || !SameBits(a.top[i].logprob, b.top[i].logprob)) return false;
  return true;
}

uint32_t SharedTop(const TokenRecord& a, const TokenRecord& b) {
  const size_t of_a = std::min<size_t>(a.top.size(), kTopCompared);
  const size_t of_b = std::min<size_t>(b.top.size(), kTopCompared);
  uint32_t shared = 0;
  for (size_t i = 0; i < of_a; ++i)
    for (size_t j = 0; j < of_b; ++j) shared += a.top[i].id == b.top[j].id;
  return shared;
}

// Largest difference of the log-probabilities that both records report for the same token.
double LogprobDifference(const TokenRecord& a, const TokenRecord& b) {
  double largest = a.id == b.id ? std::abs(double{a.logprob} - double{b.logprob}) : 0;
  for (const engine::TopToken& of_a : a.top)
    for (const engine::TopToken& of_b : b.top)
      if (of_a.id == of_b.id) largest = std::max(largest, std::abs(double{of_a.logprob} - double{of_b.logprob}));
  return largest;
}

}  // namespace

SampleReport CompareWithBase(const engine::Choice& base, uint32_t tokens_asked, const engine::Choice* found) {
  static const engine::Choice kMissing{};
  const engine::Choice& answer = found != nullptr ? *found : kMissing;
  const uint32_t base_count = static_cast<uint32_t>(std::min<size_t>(base.tokens.size(), tokens_asked));
  const uint32_t found_count = static_cast<uint32_t>(answer.tokens.size());
  const uint32_t both = std::min(base_count, found_count);
  const engine::FinishReason finish_expected =
      base.tokens.size() > tokens_asked ? engine::FinishReason::kLength : base.finish_reason;
  // A base that was allowed more and stopped exactly here: the shorter answer ended by its length before it saw the stop.
  const bool finish_equal = answer.finish_reason == finish_expected ||
                            (base.tokens.size() == tokens_asked && answer.finish_reason == engine::FinishReason::kLength);

  SampleReport report;
  report.tokens_asked = tokens_asked;
  report.tokens_base = base_count;
  report.tokens_found = found_count;

  uint32_t token_divergence = 0;
  while (token_divergence < both && base.tokens[token_divergence].id == answer.tokens[token_divergence].id)
    ++token_divergence;
  const bool lengths_equal = base_count == found_count;
  report.tokens_equal = found != nullptr && lengths_equal && token_divergence == both && finish_equal;
  if (token_divergence < both || !lengths_equal) report.first_token_divergence = token_divergence;

  // Logits can be compared as long as the tokens before them are equal: up to the divergence, which is included.
  const uint32_t comparable = std::min(both, token_divergence + 1);
  report.logprobs_equal = report.logits_equal = found != nullptr && lengths_equal && token_divergence == both;
  double difference_max = 0;
  for (uint32_t i = 0; i < comparable; ++i) {
    const TokenRecord& a = base.tokens[i];
    const TokenRecord& b = answer.tokens[i];
    // At the divergence itself `logprob` belongs to two different tokens; the candidates and the digest still compare.
    const bool logits_same = a.logits_digest == b.logits_digest;
    const bool logprobs_same = a.id == b.id ? SameLogprobs(a, b) : logits_same;
    report.logits_equal = report.logits_equal && logits_same;
    report.logprobs_equal = report.logprobs_equal && logprobs_same;
    if (!report.first_bit_divergence && !(logits_same && logprobs_same)) report.first_bit_divergence = i;
    difference_max = std::max(difference_max, LogprobDifference(a, b));
  }
  if (comparable > 0) report.logprob_difference_max = difference_max;

  const std::optional<uint32_t> at =
      report.first_token_divergence ? report.first_token_divergence : report.first_bit_divergence;
  if (at && *at < both) {
    report.top_shared_at = SharedTop(base.tokens[*at], answer.tokens[*at]);
    report.margin_base = base.tokens[*at].margin;
    report.margin_found = answer.tokens[*at].margin;
  }
  if (at && *at > 0 && *at - 1 < both)
    report.top_shared_before = SharedTop(base.tokens[*at - 1], answer.tokens[*at - 1]);
  return report;
}

}  // namespace samebit::verify
