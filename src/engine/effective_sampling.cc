#include "engine/effective_sampling.h"

#include <algorithm>

#include "base/decimal.h"
#include "base/json_writer.h"

namespace samebit::engine {
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
Sourced<T> FirstOf(const std::optional<T>& request, const std::optional<T>& server, const std::optional<U>& checkpoint,
                   T fallback) {
  if (request) return {*request, kRequest};
  if (server) return {*server, kServer};
  if (checkpoint) return {static_cast<T>(*checkpoint), kCheckpoint};
  return {fallback, kServer};
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

std::vector<TokenId> StopIds(const SamplingWish& wish, const TokenizerSpec& tokenizer) {
  std::vector<TokenId> ids = wish.stop_ids;
  if (!wish.ignore_eos) ids.insert(ids.end(), tokenizer.stop_ids.begin(), tokenizer.stop_ids.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

void EffectiveSampling::FitTokensMax(uint32_t room) {
  if (tokens_max_given || room == 0 || room >= request.tokens_max) return;
  request.tokens_max = std::max(room, request.tokens_min);
  for (EffectiveParameter& parameter : parameters) {
    if (parameter.name == "max_tokens") parameter.json = std::to_string(request.tokens_max);
  }
}

EffectiveSampling ResolveSampling(const SamplingWish& wish, const SamplingSources& sources,
                                  const TokenizerSpec& tokenizer) {
  const SamplingWish& server = sources.server;
  const CheckpointSampling& checkpoint = sources.checkpoint;
  const std::optional<float> silent;  // what a checkpoint cannot say
  const auto temperature = FirstOf(wish.temperature, server.temperature, CheckpointTemperature(checkpoint), 0.0f);
  const auto top_k = FirstOf(wish.top_k, server.top_k, CheckpointTopK(checkpoint), 0u);
  const auto top_p = FirstOf(wish.top_p, server.top_p, checkpoint.top_p, 1.0f);
  const auto min_p = FirstOf(wish.min_p, server.min_p, checkpoint.min_p, 0.0f);
  const auto repetition =
      FirstOf(wish.repetition_penalty, server.repetition_penalty, checkpoint.repetition_penalty, 1.0f);
  const auto presence = FirstOf(wish.presence_penalty, server.presence_penalty, silent, 0.0f);
  const auto frequency = FirstOf(wish.frequency_penalty, server.frequency_penalty, silent, 0.0f);
  const auto tokens_max = FirstOf(wish.max_tokens, server.max_tokens, silent, sources.tokens_max_default);
  const auto tokens_min = FirstOf(wish.min_tokens, server.min_tokens, silent, 0u);
  const auto samples = FirstOf(wish.samples, server.samples, silent, 1u);
  const auto beam_width = FirstOf(wish.beam_width, server.beam_width, silent, 0u);

  EffectiveSampling effective;
  effective.tokens_max_given = wish.max_tokens.has_value();
  Request& request = effective.request;
  SamplingParams& sampling = request.sampling;
  sampling.temperature = temperature.value;
  sampling.top_k = top_k.value;
  sampling.top_p = top_p.value;
  sampling.min_p = min_p.value;
  sampling.repetition_penalty = repetition.value;
  sampling.presence_penalty = presence.value;
  sampling.frequency_penalty = frequency.value;
  sampling.logit_bias = wish.logit_bias;
  std::sort(sampling.logit_bias.begin(), sampling.logit_bias.end());
  // A greedy answer draws nothing: its seed is 0, so that it does not look random.
  sampling.seed = wish.seed ? *wish.seed : temperature.value > 0 ? sources.fresh_seed() : 0;
  request.samples = samples.value;
  request.tokens_max = tokens_max.value;
  request.tokens_min = tokens_min.value;
  request.stop_strings = wish.stop;
  request.stop_ids = StopIds(wish, tokenizer);
  request.top_logprobs = wish.logprobs.value_or(0);
  request.beam_width = beam_width.value;

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
  report.Add("logit_bias", bias.EndObject().Finish(), wish.logit_bias.empty() ? kServer : kRequest);
  report.Add("seed", "\"" + std::to_string(sampling.seed) + "\"", wish.seed ? kRequest : kServer);
  report.Add("n", samples);
  report.Add("beam_width", beam_width);
  report.Add("max_tokens", tokens_max);
  report.Add("min_tokens", tokens_min);
  JsonWriter stop;
  stop.BeginArray();
  for (const std::string& text : request.stop_strings) stop.Text(text);
  report.Add("stop", stop.EndArray().Finish(), wish.stop.empty() ? kServer : kRequest);
  JsonWriter stop_ids;
  stop_ids.BeginArray();
  for (const TokenId id : request.stop_ids) stop_ids.Number(id);
  report.Add("stop_ids", stop_ids.EndArray().Finish(),
             wish.ignore_eos || !wish.stop_ids.empty() ? kRequest : kCheckpoint);
  effective.parameters = report.Take();
  return effective;
}

}  // namespace samebit::engine
