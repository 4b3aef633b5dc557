#include "cli/effective_sampling.h"

#include "base/limits.h"
#include "cli/number_text.h"
#include "model/describe.h"

namespace samebit::cli {
namespace {

Result<std::pair<TokenId, float>> ParseBias(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return Error{ErrorCode::kInvalidArgument, "expected ID=VALUE as in 11=-100, found " + model::Printable(text)};
  }
  ASSIGN_OR_RETURN(const uint64_t id, ParseWhole(text.substr(0, equals), 0, limits::kVocabularyMax));
  ASSIGN_OR_RETURN(const float bias, ParseDecimal(text.substr(equals + 1), -100, 100));
  return std::pair<TokenId, float>(static_cast<TokenId>(id), bias);
}

Status CheckIds(const engine::Request& request, uint32_t vocabulary) {
  const auto refuse = [&](const char* flag, TokenId id) {
    return Error{ErrorCode::kInvalidArgument, std::string(flag) + ": the model has token ids 0 to " +
                                                  std::to_string(vocabulary - 1) + ", found " + std::to_string(id)};
  };
  for (const auto& [id, bias] : request.sampling.logit_bias) {
    if (static_cast<uint32_t>(id) >= vocabulary) return refuse("--logit-bias", id);
  }
  for (const TokenId id : request.stop_ids) {
    if (static_cast<uint32_t>(id) >= vocabulary) return refuse("--stop-id", id);
  }
  return {};
}

Status CheckCombination(const engine::Request& request) {
  const auto refuse = [](const std::string& sentence) { return Error{ErrorCode::kInvalidArgument, sentence}; };
  const float temperature = request.sampling.temperature;
  if (temperature > 0 && temperature < 0.01f) {
    return refuse("--temperature: use 0 (greedy) or 0.01 to 100, found " + Decimal(temperature));
  }
  if (request.tokens_min > request.tokens_max) {
    return refuse("--min-tokens " + std::to_string(request.tokens_min) + " is more than --max-tokens " +
                  std::to_string(request.tokens_max));
  }
  if (request.beam_width > 0 && temperature > 0) return refuse("--beam-width searches greedily: set --temperature 0");
  if (request.beam_width > 0 && request.samples > request.beam_width) {
    return refuse("--n " + std::to_string(request.samples) + " is more than --beam-width " +
                  std::to_string(request.beam_width));
  }
  return {};
}

// The parameters that are one number each.
std::vector<Flag> ParameterFlags(SamplingWish& wish) {
  return {Number("--temperature", &wish.temperature, 0, 100, "0: always the likeliest token (default 0)"),
          Whole("--top-k", &wish.top_k, 0, limits::kVocabularyMax, "only the K likeliest tokens; 0: off (default 0)"),
          Number("--top-p", &wish.top_p, 0x1p-24f, 1,
                 "only the likeliest tokens that reach this probability (default 1)"),
          Number("--min-p", &wish.min_p, 0, 1 - 0x1p-24f,
                 "only tokens with this share of the likeliest one's probability (default 0)"),
          Number("--repetition-penalty", &wish.repetition_penalty, 0x1p-24f, 10, "over prompt and answer (default 1)"),
          Number("--presence-penalty", &wish.presence_penalty, -2, 2, "over the answer (default 0)"),
          Number("--frequency-penalty", &wish.frequency_penalty, -2, 2, "over the answer (default 0)")};
}

}  // namespace

std::vector<Flag> SamplingFlags::default_flags() {
  std::vector<Flag> flags = ParameterFlags(*this);
  Append(flags, {Whole("--max-tokens", &max_tokens, 1, limits::kContextMax,
                       "tokens of an answer (default: 16 for completions, what the context holds for chats)")});
  return Grouped("Sampling where a request says nothing (before the model's own wish)", std::move(flags));
}

std::vector<Flag> SamplingFlags::flags() {
  Flag bias = {.name = "--logit-bias",
               .value = "ID=X",
               .help = "adds X (-100 to 100) to the logit of a token",
               .set = [this](std::string_view text) -> Status {
                 ASSIGN_OR_RETURN(const auto entry, ParseBias(text));
                 for (const auto& [id, value] : logit_bias) {
                   if (id == entry.first) {
                     return Error{ErrorCode::kInvalidArgument, "token " + std::to_string(id) + " is given twice"};
                   }
                 }
                 logit_bias.push_back(entry);
                 return {};
               },
               .repeatable = true};
  Flag stop_id = {.name = "--stop-id",
                  .value = "ID",
                  .help = "token id that ends the answer",
                  .set = [this](std::string_view text) -> Status {
                    ASSIGN_OR_RETURN(const uint64_t id, ParseWhole(text, 0, limits::kVocabularyMax));
                    stop_ids.push_back(static_cast<TokenId>(id));
                    return {};
                  },
                  .repeatable = true};
  Flag stop_text = {.name = "--stop",
                    .value = "TEXT",
                    .help = "text that ends the answer and is not part of it",
                    .set = [this](std::string_view text) -> Status {
                      if (text.empty())
                        return Error{ErrorCode::kInvalidArgument, "an empty text would end every answer"};
                      stop.emplace_back(text);
                      return {};
                    },
                    .repeatable = true};
  std::vector<Flag> more = ParameterFlags(*this);
  Append(more, {std::move(bias), Whole64("--seed", &seed, "replays a sampled answer (default: drawn anew and reported)"),
                Whole("--n", &samples, 1, limits::kSamplesMax, "answers to the same prompt (default 1)"),
                Whole("--beam-width", &beam_width, 1, limits::kBeamWidthMax, "beam search instead of sampling")});
  std::vector<Flag> flags = Grouped("Sampling (first found wins: flag, the model's own wish, default)", std::move(more));
  Append(flags,
         Grouped("Length",
                 {Whole("--max-tokens", &max_tokens, 1, limits::kContextMax, "tokens of the answer (default 256)"),
                  Whole("--min-tokens", &min_tokens, 0, limits::kContextMax, "no stop id before (default 0)"),
                  std::move(stop_text), std::move(stop_id),
                  Switch("--ignore-eos", &ignore_eos, true, "the model's own stop ids do not end the answer")}));
  return flags;
}

Result<EffectiveSampling> ResolveSampling(const SamplingFlags& flags, const CheckpointSampling& checkpoint,
                                          const TokenizerSpec& tokenizer, world::Entropy& entropy) {
  engine::SamplingSources sources;
  sources.checkpoint = checkpoint;
  sources.fresh_seed = [&entropy] { return entropy.Seed(); };
  EffectiveSampling effective = engine::ResolveSampling(flags, sources, tokenizer);
  effective.request.logits_digests = true;
  RETURN_IF_ERROR(CheckIds(effective.request, tokenizer.vocabulary));
  RETURN_IF_ERROR(CheckCombination(effective.request));
  return effective;
}

}  // namespace samebit::cli
