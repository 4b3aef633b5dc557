#include "cli/effective_sampling.h"

#include <algorithm>

#include "base/limits.h"
#include "cli/number_text.h"
#include "model/describe.h"

namespace samebit::cli {
namespace {

constexpr const char* kRequest = "request";
constexpr const char* kCheckpoint = "checkpoint";
constexpr const char* kServer = "server";

template <class T>
struct Sourced {
  T value;
  const char* source;
};

template <class T, class U>
Sourced<T> FirstOf(const std::optional<T>& request, const std::optional<U>& checkpoint, T server) {
  if (request) return {*request, kRequest};
  if (checkpoint) return {static_cast<T>(*checkpoint), kCheckpoint};
  return {server, kServer};
}

// A checkpoint that says do_sample = false wants greedy; one that says true without a temperature wants 1.
std::optional<float> CheckpointTemperature(const CheckpointSampling& checkpoint) {
  if (checkpoint.do_sample == false) return 0.0f;
  if (checkpoint.temperature) return checkpoint.temperature;
  return checkpoint.do_sample == true ? std::optional<float>(1.0f) : std::nullopt;
}

// A negative or zero top-k in a checkpoint means "off".
std::optional<int32_t> CheckpointTopK(const CheckpointSampling& checkpoint) {
  return checkpoint.top_k ? std::optional<int32_t>(std::max(*checkpoint.top_k, 0)) : std::nullopt;
}

Result<std::pair<TokenId, float>> ParseBias(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return Error{ErrorCode::kInvalidArgument, "expected ID=VALUE as in 11=-100, found " + model::Printable(text)};
  }
  ASSIGN_OR_RETURN(const uint64_t id, ParseWhole(text.substr(0, equals), 0, limits::kVocabularyMax));
  ASSIGN_OR_RETURN(const float bias, ParseDecimal(text.substr(equals + 1), -100, 100));
  return std::pair<TokenId, float>(static_cast<TokenId>(id), bias);
}

class Report {
 public:
  void Add(const char* name, std::string json, const char* source) {
    parameters_.push_back({name, std::move(json), source});
  }
  void Add(const char* name, const Sourced<float>& sourced) { Add(name, Decimal(sourced.value), sourced.source); }
  void Add(const char* name, const Sourced<uint32_t>& sourced) {
    Add(name, std::to_string(sourced.value), sourced.source);
  }
  std::vector<EffectiveParameter> Take() { return std::move(parameters_); }

 private:
  std::vector<EffectiveParameter> parameters_;
};

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

}  // namespace

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
  std::vector<Flag> flags = Grouped(
      "Sampling (first found wins: flag, the model's own wish, default)",
      {Number("--temperature", &temperature, 0, 100, "0: always the likeliest token (default 0)"),
       Whole("--top-k", &top_k, 0, limits::kVocabularyMax, "only the K likeliest tokens; 0: off (default 0)"),
       Number("--top-p", &top_p, 0x1p-24f, 1, "only the likeliest tokens that reach this probability (default 1)"),
       Number("--min-p", &min_p, 0, 1 - 0x1p-24f,
              "only tokens with this share of the likeliest one's probability (default 0)"),
       Number("--repetition-penalty", &repetition_penalty, 0x1p-24f, 10, "over prompt and answer (default 1)"),
       Number("--presence-penalty", &presence_penalty, -2, 2, "over the answer (default 0)"),
       Number("--frequency-penalty", &frequency_penalty, -2, 2, "over the answer (default 0)"), std::move(bias),
       Whole64("--seed", &seed, "replays a sampled answer (default: drawn anew and reported)"),
       Whole("--n", &samples, 1, limits::kSamplesMax, "answers to the same prompt (default 1)"),
       Whole("--beam-width", &beam_width, 1, limits::kBeamWidthMax, "beam search instead of sampling")});
  Append(flags,
         Grouped("Length",
                 {Whole("--max-tokens", &max_tokens, 1, limits::kContextMax, "tokens of the answer (default 256)"),
                  Whole("--min-tokens", &min_tokens, 0, limits::kContextMax, "no stop id before (default 0)"),
                  std::move(stop_text), std::move(stop_id),
                  Switch("--ignore-eos", &ignore_eos, true, "the model's own stop ids do not end the answer")}));
  return flags;
}

void EffectiveSampling::FitTokensMax(uint32_t room) {
  if (tokens_max_given || room == 0 || room >= request.tokens_max) return;
  request.tokens_max = std::max(room, request.tokens_min);
  for (EffectiveParameter& parameter : parameters) {
    if (parameter.name == "max_tokens") parameter.json = std::to_string(request.tokens_max);
  }
}

Result<EffectiveSampling> ResolveSampling(const SamplingFlags& flags, const CheckpointSampling& checkpoint,
                                          const TokenizerSpec& tokenizer, world::Entropy& entropy) {
  const std::optional<float> silent;  // what a checkpoint cannot say
  const auto temperature = FirstOf(flags.temperature, CheckpointTemperature(checkpoint), 0.0f);
  const auto top_k = FirstOf(flags.top_k, CheckpointTopK(checkpoint), 0u);
  const auto top_p = FirstOf(flags.top_p, checkpoint.top_p, 1.0f);
  const auto min_p = FirstOf(flags.min_p, checkpoint.min_p, 0.0f);
  const auto repetition = FirstOf(flags.repetition_penalty, checkpoint.repetition_penalty, 1.0f);
  const auto presence = FirstOf(flags.presence_penalty, silent, 0.0f);
  const auto frequency = FirstOf(flags.frequency_penalty, silent, 0.0f);
  const auto tokens_max = FirstOf(flags.max_tokens, silent, kTokensMaxDefault);
  const auto tokens_min = FirstOf(flags.min_tokens, silent, 0u);
  const auto samples = FirstOf(flags.samples, silent, 1u);
  const auto beam_width = FirstOf(flags.beam_width, silent, 0u);

  EffectiveSampling effective;
  effective.tokens_max_given = flags.max_tokens.has_value();
  engine::Request& request = effective.request;
  engine::SamplingParams& sampling = request.sampling;
  sampling.temperature = temperature.value;
  sampling.top_k = top_k.value;
  sampling.top_p = top_p.value;
  sampling.min_p = min_p.value;
  sampling.repetition_penalty = repetition.value;
  sampling.presence_penalty = presence.value;
  sampling.frequency_penalty = frequency.value;
  sampling.logit_bias = flags.logit_bias;
  std::sort(sampling.logit_bias.begin(), sampling.logit_bias.end());
  // A greedy answer draws nothing: its seed is 0, so that it does not look random.
  sampling.seed = flags.seed ? *flags.seed : temperature.value > 0 ? entropy.Seed() : 0;
  request.samples = samples.value;
  request.tokens_max = tokens_max.value;
  request.tokens_min = tokens_min.value;
  request.stop_strings = flags.stop;
  request.stop_ids = flags.stop_ids;
  if (!flags.ignore_eos)
    request.stop_ids.insert(request.stop_ids.end(), tokenizer.stop_ids.begin(), tokenizer.stop_ids.end());
  std::sort(request.stop_ids.begin(), request.stop_ids.end());
  request.stop_ids.erase(std::unique(request.stop_ids.begin(), request.stop_ids.end()), request.stop_ids.end());
  request.top_logprobs = flags.logprobs.value_or(0);
  request.logits_digests = true;
  request.beam_width = beam_width.value;
  RETURN_IF_ERROR(CheckIds(request, tokenizer.vocabulary));
  RETURN_IF_ERROR(CheckCombination(request));

  Report report;
  report.Add("temperature", temperature);
  report.Add("top_k", top_k);
  report.Add("top_p", top_p);
  report.Add("min_p", min_p);
  report.Add("repetition_penalty", repetition);
  report.Add("presence_penalty", presence);
  report.Add("frequency_penalty", frequency);
  JsonWriter bias;
  bias.BeginObject();
  for (const auto& [id, value] : sampling.logit_bias) bias.Key(std::to_string(id)).Number(value);
  report.Add("logit_bias", bias.EndObject().Finish(), flags.logit_bias.empty() ? kServer : kRequest);
  report.Add("seed", "\"" + std::to_string(sampling.seed) + "\"", flags.seed ? kRequest : kServer);
  report.Add("n", samples);
  report.Add("beam_width", beam_width);
  report.Add("max_tokens", tokens_max);
  report.Add("min_tokens", tokens_min);
  JsonWriter stop;
  stop.BeginArray();
  for (const std::string& text : request.stop_strings) stop.Text(text);
  report.Add("stop", stop.EndArray().Finish(), flags.stop.empty() ? kServer : kRequest);
  JsonWriter stop_ids;
  stop_ids.BeginArray();
  for (const TokenId id : request.stop_ids) stop_ids.Number(id);
  report.Add("stop_ids", stop_ids.EndArray().Finish(),
             flags.ignore_eos || !flags.stop_ids.empty() ? kRequest : kCheckpoint);
  effective.parameters = report.Take();
  return effective;
}

}  // namespace samebit::cli
