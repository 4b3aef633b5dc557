#include "engine/sampler.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "arith/sampling.h"
#include "base/limits.h"

namespace samebit::engine {

namespace {

constexpr uint32_t kFullWeight = 1u << 30;  // the weight of the largest logit
// What a masked id gets: under every finite logit, and finite itself, so that the total order still holds.
constexpr float kMasked = -0x1.fffffep127f;

bool ChangesLogits(const SampleInput& input) {
  const SamplingParams& params = *input.params;
  return !params.logit_bias.empty() || params.repetition_penalty != 1 || params.presence_penalty != 0 ||
         params.frequency_penalty != 0 || !input.masked.empty() || !input.allowed.empty();
}

// Whole words first: most of a grammar's words are empty.
void MaskOthers(std::span<const uint32_t> allowed, uint32_t vocabulary, float* logits) {
  for (uint32_t word = 0; word < allowed.size(); ++word) {
    if (allowed[word] == ~0u) continue;
    const uint32_t first = word * 32, end = std::min(first + 32, vocabulary);
    for (uint32_t id = first; id < end; ++id)
      if ((allowed[word] >> (id - first) & 1) == 0) logits[id] = kMasked;
  }
}

// Bias, penalties and masks, in this order. std::map: ids ascending, one operation each, so the order is fixed.
void AdjustLogits(const SampleInput& input, float* logits) {
  const SamplingParams& params = *input.params;
  for (const auto& [id, bias] : params.logit_bias) logits[id] = logits[id] + bias;
  std::map<TokenId, uint32_t> answer_counts, all_counts;
  for (TokenId id : input.answer) ++answer_counts[id];
  if (params.repetition_penalty != 1) {
    all_counts = answer_counts;
    for (TokenId id : input.prompt) ++all_counts[id];
    for (const auto& [id, count] : all_counts)
      logits[id] = logits[id] > 0 ? logits[id] / params.repetition_penalty : logits[id] * params.repetition_penalty;
  }
  if (params.presence_penalty != 0 || params.frequency_penalty != 0) {
    for (const auto& [id, count] : answer_counts) {
      logits[id] = logits[id] - params.presence_penalty;
      logits[id] = logits[id] - static_cast<float>(count) * params.frequency_penalty;
    }
  }
  for (TokenId id : input.masked) logits[id] = kMasked;
  MaskOthers(input.allowed, input.vocabulary, logits);
}

// Leaves in `keys` the smallest set of first candidates whose weights reach top_p of the total. Sorted in pieces of
// doubling size: a usual answer needs the first few of tens of thousands.
void KeepTopP(float top_p, const std::vector<uint32_t>& weights, std::vector<uint64_t>& keys) {
  uint64_t total = 0;
  for (uint64_t key : keys) total += weights[arith::CandidateId(key)];
  const double target = static_cast<double>(top_p) * static_cast<double>(total);
  uint64_t sum = 0;
  size_t kept = 0, sorted = 0;
  while (kept < keys.size()) {
    if (kept == sorted) {
      sorted = std::min(keys.size(), std::max<size_t>(64, 2 * sorted));
      std::partial_sort(keys.begin() + kept, keys.begin() + sorted, keys.end(), std::greater<>());
    }
    sum += weights[arith::CandidateId(keys[kept++])];
    if (static_cast<double>(sum) >= target) break;
  }
  keys.resize(kept);
}

TokenId Draw(const std::vector<uint32_t>& weights, const std::vector<uint64_t>& keys, uint64_t random) {
  uint64_t total = 0;
  for (uint64_t key : keys) total += weights[arith::CandidateId(key)];
  uint64_t target = arith::DrawBelow(random, total);
  // Ascending ids: keys hold them inverted in their low half.
  std::vector<uint32_t> ids;
  ids.reserve(keys.size());
  for (uint64_t key : keys) ids.push_back(arith::CandidateId(key));
  std::sort(ids.begin(), ids.end());
  for (uint32_t id : ids) {
    if (target < weights[id]) return static_cast<TokenId>(id);
    target -= weights[id];
  }
  return static_cast<TokenId>(ids.back());
}

TokenId DrawFromAll(const std::vector<uint32_t>& weights, uint64_t total, uint64_t random) {
  uint64_t target = arith::DrawBelow(random, total);
  for (uint32_t id = 0; id < weights.size(); ++id) {
    if (target < weights[id]) return static_cast<TokenId>(id);
    target -= weights[id];
  }
  return static_cast<TokenId>(weights.size() - 1);
}

Error OutOfRange(const char* field, float value, const char* allowed) {
  return Error{ErrorCode::kInvalidArgument,
               std::string(field) + ": " + std::to_string(value) + " is not in " + allowed};
}

}  // namespace

TokenId SampleToken(const kernels::KernelTable& kernels, const SampleInput& input, SamplerScratch& scratch) {
  const SamplingParams& params = *input.params;
  const uint32_t n = input.vocabulary;
  const float* logits = input.logits;
  if (ChangesLogits(input)) {
    scratch.adjusted.assign(logits, logits + n);
    AdjustLogits(input, scratch.adjusted.data());
    logits = scratch.adjusted.data();
  }
  const uint32_t first = arith::CandidateId(kernels.largest_candidate(logits, n));
  if (params.temperature == 0) return static_cast<TokenId>(first);

  scratch.weights.resize(n);
  const float inverse_temperature = 1.0f / params.temperature;
  const uint64_t total =
      kernels.sampling_weights(logits, n, logits[first], inverse_temperature, scratch.weights.data());
  const auto position = static_cast<uint32_t>(input.prompt.size() + input.answer.size());
  const uint64_t random = arith::RandomBits(params.seed, input.sample_index, position, arith::RandomStream::kToken);
  if (params.top_k == 0 && params.top_p >= 1 && params.min_p <= 0) return DrawFromAll(scratch.weights, total, random);

  std::vector<uint64_t>& keys = scratch.keys;
  keys.clear();
  for (uint32_t id = 0; id < n; ++id)
    if (scratch.weights[id] > 0) keys.push_back(arith::CandidateKey(logits[id], id));
  if (params.top_k > 0 && params.top_k < keys.size()) {
    std::nth_element(keys.begin(), keys.begin() + params.top_k, keys.end(), std::greater<>());
    keys.resize(params.top_k);
  }
  if (params.top_p < 1) KeepTopP(params.top_p, scratch.weights, keys);
  if (params.min_p > 0) {
    const double least = static_cast<double>(params.min_p) * kFullWeight;
    std::erase_if(keys,
                  [&](uint64_t key) { return static_cast<double>(scratch.weights[arith::CandidateId(key)]) < least; });
  }
  return Draw(scratch.weights, keys, random);
}

PositionReport ReportPosition(const kernels::KernelTable& kernels, const float* logits, uint32_t vocabulary,
                              uint32_t top_count, bool digest, SamplerScratch& scratch) {
  PositionReport report;
  report.normalizer = kernels.log_softmax(logits, vocabulary);
  const uint32_t first = arith::CandidateId(kernels.largest_candidate(logits, vocabulary));
  // The second largest is the larger of what lies left and right of the first.
  float second = -std::numeric_limits<float>::infinity();
  if (first > 0) second = logits[arith::CandidateId(kernels.largest_candidate(logits, first))];
  if (first + 1 < vocabulary) {
    const float* right = logits + first + 1;
    second = arith::Max(second, right[arith::CandidateId(kernels.largest_candidate(right, vocabulary - first - 1))]);
  }
  report.margin = logits[first] - second;
  if (digest) report.logits_digest = Sha256::Of(logits, size_t{vocabulary} * sizeof(float));
  if (top_count > 0) {
    std::vector<uint64_t>& keys = scratch.keys;
    keys.resize(vocabulary);
    for (uint32_t id = 0; id < vocabulary; ++id) keys[id] = arith::CandidateKey(logits[id], id);
    top_count = std::min(top_count, vocabulary);
    std::partial_sort(keys.begin(), keys.begin() + top_count, keys.end(), std::greater<>());
    for (uint32_t i = 0; i < top_count; ++i) {
      const uint32_t id = arith::CandidateId(keys[i]);
      report.top.push_back({static_cast<TokenId>(id), arith::LogProbability(report.normalizer, logits[id])});
    }
  }
  return report;
}

TokenRecord RecordOf(const PositionReport& report, const float* logits, TokenId id, uint32_t top_count) {
  TokenRecord record;
  record.id = id;
  record.logprob = arith::LogProbability(report.normalizer, logits[id]);
  record.margin = report.margin;
  record.logits_digest = report.logits_digest;
  record.top.assign(report.top.begin(), report.top.begin() + std::min<size_t>(top_count, report.top.size()));
  return record;
}

Status CheckSampling(const SamplingParams& params, uint32_t vocabulary) {
  // Written so that NaN fails every one of them.
  const auto within = [](float value, float low, float high) { return value >= low && value <= high; };
  if (!(params.temperature == 0 || within(params.temperature, 0.01f, 100)))
    return OutOfRange("temperature", params.temperature, "0 or [0.01, 100]");
  if (!(params.top_p > 0 && params.top_p <= 1)) return OutOfRange("top_p", params.top_p, "(0, 1]");
  if (!(params.min_p >= 0 && params.min_p < 1)) return OutOfRange("min_p", params.min_p, "[0, 1)");
  if (!(params.repetition_penalty > 0 && params.repetition_penalty <= 10))
    return OutOfRange("repetition_penalty", params.repetition_penalty, "(0, 10]");
  if (!within(params.presence_penalty, -2, 2))
    return OutOfRange("presence_penalty", params.presence_penalty, "[-2, 2]");
  if (!within(params.frequency_penalty, -2, 2))
    return OutOfRange("frequency_penalty", params.frequency_penalty, "[-2, 2]");
  if (params.logit_bias.size() > limits::kLogitBiasEntriesMax)
    return Error{ErrorCode::kTooLarge, "logit_bias: " + std::to_string(params.logit_bias.size()) +
                                           " entries, at most " + std::to_string(limits::kLogitBiasEntriesMax)};
  TokenId previous = -1;
  for (const auto& [id, bias] : params.logit_bias) {
    if (id < 0 || static_cast<uint32_t>(id) >= vocabulary)
      return Error{ErrorCode::kInvalidArgument, "logit_bias: token " + std::to_string(id) +
                                                    " is not in the vocabulary of " + std::to_string(vocabulary)};
    if (id <= previous)
      return Error{ErrorCode::kInvalidArgument,
                   "logit_bias: token " + std::to_string(id) + " is given twice or out of order"};
    if (!within(bias, -100, 100)) return OutOfRange("logit_bias", bias, "[-100, 100]");
    previous = id;
  }
  return {};
}

}  // namespace samebit::engine
