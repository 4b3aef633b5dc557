#include "support/decoder_run.h"

#include <algorithm>
#include <cstring>

#include "arith/sampling.h"
#include "base/check.h"
#include "engine/forward/decoder.h"

namespace samebit::test {

void VisitDecoderLogits(const engine::Weights& weights, std::span<const TokenId> tokens, engine::EngineOptions options,
                        const PositionVisitor& visit) {
  const model::ModelConfig& config = weights.config;
  const auto count = static_cast<uint32_t>(tokens.size());
  const uint32_t page_count = (count + options.page_tokens - 1) / options.page_tokens;
  const kernels::HeadPage head{options.cache_type, config.head_size, options.page_tokens};
  const uint64_t page_bytes = uint64_t{head.bytes()} * config.kv_heads * config.layers;
  engine::KvCache cache({config.layers, config.kv_heads, head, page_bytes * page_count}, false);
  std::vector<engine::PageId> pages;
  for (uint32_t i = 0; i < page_count; ++i) {
    pages.push_back(*cache.Allocate());
    std::memset(cache.Head(pages.back(), 0, 0), 0xff, page_bytes);
  }
  std::reverse(pages.begin(), pages.end());

  options.step_rows_max = options.prefill_chunk;
  engine::Decoder decoder(weights, options, cache);
  kernels::Team team(options.threads);
  for (uint32_t first = 0; first < count; first += options.prefill_chunk) {
    engine::Batch batch;
    const uint32_t rows = std::min(options.prefill_chunk, count - first);
    for (uint32_t row = 0; row < rows; ++row) {
      batch.tokens.push_back(tokens[first + row]);
      batch.positions.push_back(first + row);
      batch.logit_rows.push_back(row);
    }
    batch.groups.push_back({&pages, 0, rows, first});
    decoder.Forward(team, batch, [&](uint32_t index, const float* logits) { visit(first + index, logits); });
    for (uint32_t row = 0; row < rows; ++row) CHECK(!decoder.row_failed(row));
  }
}

std::vector<float> DecoderLogits(const engine::Weights& weights, std::span<const TokenId> tokens,
                                 const engine::EngineOptions& options) {
  const uint32_t vocabulary = weights.config.vocabulary;
  std::vector<float> all(tokens.size() * vocabulary);
  VisitDecoderLogits(weights, tokens, options, [&](Position position, const float* logits) {
    std::copy_n(logits, vocabulary, &all[size_t{position} * vocabulary]);
  });
  return all;
}

std::vector<TokenId> DecoderGreedy(const engine::Weights& weights, std::vector<TokenId> tokens, uint32_t count,
                                   const engine::EngineOptions& options) {
  std::vector<TokenId> answer;
  for (uint32_t step = 0; step < count; ++step) {
    const std::vector<float> logits = DecoderLogits(weights, tokens, options);
    const float* last = &logits[(tokens.size() - 1) * weights.config.vocabulary];
    uint64_t best = 0;
    for (uint32_t id = 0; id < weights.config.vocabulary; ++id)
      best = std::max(best, arith::CandidateKey(last[id], id));
    answer.push_back(static_cast<TokenId>(arith::CandidateId(best)));
    tokens.push_back(answer.back());
  }
  return answer;
}

}  // namespace samebit::test
