#include "engine/check_request.h"

#include <algorithm>
#include <string>

#include "base/limits.h"
#include "engine/forward/linear.h"
#include "engine/sampler.h"

namespace samebit::engine {

namespace {

Error Invalid(const std::string& message) { return Error{ErrorCode::kInvalidArgument, message}; }

Status CheckWithin(const char* field, uint64_t value, uint64_t low, uint64_t high) {
  if (value >= low && value <= high) return {};
  return Invalid(std::string(field) + ": " + std::to_string(value) + " is not in [" + std::to_string(low) + ", " +
                 std::to_string(high) + "]");
}

Status CheckIds(const char* field, const std::vector<TokenId>& ids, uint32_t vocabulary) {
  for (TokenId id : ids) {
    if (id < 0 || static_cast<uint32_t>(id) >= vocabulary)
      return Invalid(std::string(field) + ": token " + std::to_string(id) + " is not in the vocabulary of " +
                     std::to_string(vocabulary));
  }
  return {};
}

}  // namespace

Status CheckOptions(const EngineOptions& options, const Weights& weights) {
  RETURN_IF_ERROR(CheckWithin("threads", options.threads, 1, 256));
  const std::vector<kernels::Isa> isas = kernels::AvailableIsas();
  if (std::find(isas.begin(), isas.end(), options.isa) == isas.end())
    return Invalid(std::string("isa: this machine or build has no ") + kernels::IsaName(options.isa));
  if (options.page_tokens < 16 || arith::kAttentionSplitKeys % options.page_tokens != 0)
    return Invalid("page_tokens: " + std::to_string(options.page_tokens) + " is not one of 16, 32, 64, 128, 256");
  RETURN_IF_ERROR(CheckWithin("context_max", options.context_max, 0, limits::kContextMax));
  RETURN_IF_ERROR(CheckWithin("step_rows_max", options.step_rows_max, 1, 4096));
  RETURN_IF_ERROR(CheckWithin("prefill_chunk", options.prefill_chunk, 1, 4096));
  RETURN_IF_ERROR(CheckWithin("prefill_beside_decodes", options.prefill_beside_decodes, 1, 4096));
  RETURN_IF_ERROR(CheckWithin("sequences_max", options.sequences_max, 1, 1024));
  if (options.tensor_parallel != 1 && options.tensor_parallel != 2 && options.tensor_parallel != 4 &&
      options.tensor_parallel != 8)
    return Invalid("tensor_parallel: " + std::to_string(options.tensor_parallel) + " is not one of 1, 2, 4, 8");
  RETURN_IF_ERROR(CheckTensorParallel(weights, options.tensor_parallel));
  const kernels::HeadPage head{options.cache_type, weights.config.head_size, options.page_tokens};
  const uint64_t page_bytes = uint64_t{head.bytes()} * weights.config.kv_heads * weights.config.layers;
  if (options.cache_bytes < page_bytes)
    return Error{ErrorCode::kCapacity, "cache_bytes: " + std::to_string(options.cache_bytes) +
                                           " bytes do not hold one page of " + std::to_string(options.page_tokens) +
                                           " tokens, " + std::to_string(page_bytes) + " bytes"};
  return {};
}

Status CheckRequest(const Request& request, const RequestLimits& bounds) {
  if (request.prompt.empty()) return Invalid("prompt: it has no tokens");
  RETURN_IF_ERROR(CheckIds("prompt", request.prompt, bounds.vocabulary));
  RETURN_IF_ERROR(CheckSampling(request.sampling, bounds.vocabulary));
  RETURN_IF_ERROR(CheckWithin("samples", request.samples, 1, limits::kSamplesMax));
  RETURN_IF_ERROR(CheckWithin("tokens_max", request.tokens_max, 1, limits::kContextMax));
  RETURN_IF_ERROR(CheckWithin("tokens_min", request.tokens_min, 0, request.tokens_max));
  RETURN_IF_ERROR(
      CheckWithin("top_logprobs", request.top_logprobs, 0, std::min(limits::kTopLogprobsMax, bounds.vocabulary)));
  RETURN_IF_ERROR(CheckIds("stop_ids", request.stop_ids, bounds.vocabulary));
  if (request.stop_ids.size() >= bounds.vocabulary) return Invalid("stop_ids: no token is left to generate");
  if (!std::is_sorted(request.stop_ids.begin(), request.stop_ids.end(), std::less_equal<>()) &&
      request.stop_ids.size() > 1)
    return Invalid("stop_ids: not ascending without repeats");
  if (!request.stop_strings.empty() && !bounds.has_tokenizer)
    return Invalid("stop_strings: this engine has no tokenizer");
  const uint64_t tokens = uint64_t{request.prompt.size()} + request.tokens_max;
  if (tokens > bounds.context_max)
    return Error{ErrorCode::kContextOverflow, "prompt of " + std::to_string(request.prompt.size()) +
                                                  " tokens and tokens_max " + std::to_string(request.tokens_max) +
                                                  " make " + std::to_string(tokens) + "; the context holds " +
                                                  std::to_string(bounds.context_max)};
  // Beams stand side by side and, at worst, share nothing.
  const uint64_t pages = (tokens + bounds.page_tokens - 1) / bounds.page_tokens;
  const uint64_t cache_tokens = pages * bounds.page_tokens * std::max(1u, request.beam_width);
  if (cache_tokens > bounds.cache_tokens_max)
    return Error{ErrorCode::kCapacity, "the request needs " + std::to_string(cache_tokens) +
                                           " tokens of KV cache; the budget holds " +
                                           std::to_string(bounds.cache_tokens_max)};
  if (request.beam_width > 0) {
    RETURN_IF_ERROR(
        CheckWithin("beam_width", request.beam_width, 1, std::min(limits::kBeamWidthMax, bounds.sequences_max)));
    if (2 * request.beam_width > bounds.vocabulary) return Invalid("beam_width: more than half of the vocabulary");
    RETURN_IF_ERROR(CheckWithin("samples (with beam_width)", request.samples, 1, request.beam_width));
    if (request.sampling.temperature != 0) return Invalid("temperature: beam search is not sampled; it must be 0");
    if (!request.stop_strings.empty()) return Invalid("stop_strings: not with beam_width");
    if (request.tokens_min > 0) return Invalid("tokens_min: not with beam_width");
    if (request.grammar != nullptr) return Invalid("grammar: not with beam_width");
  }
  return {};
}

}  // namespace samebit::engine
