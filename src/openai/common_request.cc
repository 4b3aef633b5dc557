#include "openai/common_request.h"

#include <algorithm>
#include <charconv>

#include "base/decimal.h"
#include "base/json_kind.h"
#include "base/limits.h"
#include "openai/known_fields.h"

namespace samebit::openai {
namespace {

namespace json = boost::json;
using contract::Tier;

std::optional<float> Float(FieldReader& fields, const char* name, double min, double max, const char* expected) {
  const std::optional<double> number = fields.Number(name, min, max, expected);
  return number ? std::optional<float>(static_cast<float>(*number)) : std::nullopt;
}

void ReadTemperature(FieldReader& fields, SamplingWish& wish) {
  constexpr const char* kExpected = "0 (greedy), or a number from 0.01 to 100";
  wish.temperature = Float(fields, "temperature", 0, 100, kExpected);
  if (wish.temperature && *wish.temperature > 0 && *wish.temperature < 0.01f) {
    fields.Fail(InvalidValue("temperature", std::string("temperature: expected ") + kExpected + ", found " +
                                                Decimal(*wish.temperature)));
  }
}

// -1 means off, in the form that other servers take.
void ReadTopK(FieldReader& fields, SamplingWish& wish) {
  const std::optional<double> top_k = fields.Number("top_k", -1, limits::kVocabularyMax, "-1, or a whole number from 0");
  if (!top_k) return;
  if (*top_k != static_cast<double>(static_cast<int64_t>(*top_k))) {
    fields.Fail(InvalidValue("top_k", "top_k: expected a whole number, found " + Decimal(*top_k)));
    return;
  }
  wish.top_k = *top_k < 0 ? 0u : static_cast<uint32_t>(*top_k);
}

// Bounds that are open in the law are closed here at the nearest number of binary32.
void ReadProbabilities(FieldReader& fields, SamplingWish& wish) {
  wish.top_p = Float(fields, "top_p", 0x1p-24, 1, "a number over 0, up to 1");
  wish.min_p = Float(fields, "min_p", 0, 1 - 0x1p-24, "a number from 0, under 1");
  wish.repetition_penalty = Float(fields, "repetition_penalty", 0x1p-24, 10, "a number over 0, up to 10");
  wish.presence_penalty = Float(fields, "presence_penalty", -2, 2, "a number from -2 to 2");
  wish.frequency_penalty = Float(fields, "frequency_penalty", -2, 2, "a number from -2 to 2");
}

void ReadBias(FieldReader& fields, uint32_t vocabulary, SamplingWish& wish) {
  const json::object* bias = fields.Object("logit_bias");
  if (bias == nullptr) return;
  if (bias->size() > limits::kLogitBiasEntriesMax) {
    fields.Fail(InvalidValue("logit_bias", "logit_bias: expected at most " +
                                               std::to_string(limits::kLogitBiasEntriesMax) + " entries"));
    return;
  }
  for (const json::key_value_pair& member : *bias) {
    const std::string_view key(member.key().data(), member.key().size());
    TokenId id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    const bool is_id = error == std::errc() && end == key.data() + key.size() && key == std::to_string(id);
    if (!is_id || id < 0 || static_cast<uint32_t>(id) >= vocabulary) {
      fields.Fail(InvalidValue("logit_bias", "logit_bias: expected a token id from 0 to " +
                                                 std::to_string(vocabulary - 1) + ", found " + Quoted(key)));
      return;
    }
    if (!member.value().is_number() || !(member.value().to_number<double>() >= -100) ||
        !(member.value().to_number<double>() <= 100)) {
      fields.Fail(InvalidValue("logit_bias." + std::string(key),
                               "logit_bias." + std::string(key) + ": expected a number from -100 to 100"));
      return;
    }
    wish.logit_bias.emplace_back(id, static_cast<float>(member.value().to_number<double>()));
  }
}

void ReadStop(FieldReader& fields, SamplingWish& wish) {
  const json::value* stop = fields.Take("stop");
  if (stop == nullptr) return;
  const auto add = [&](const json::value& value, const std::string& place) {
    if (!value.is_string()) {
      fields.Fail(InvalidValue(place, place + ": expected a string, found " + JsonKindName(&value), "invalid_type"));
    } else if (value.get_string().empty()) {
      fields.Fail(InvalidValue(place, place + ": an empty string would end every answer"));
    } else if (value.get_string().size() > limits::kStopStringBytesMax) {
      fields.Fail(InvalidValue(place, place + ": expected at most " + std::to_string(limits::kStopStringBytesMax) +
                                          " bytes"));
    } else {
      wish.stop.emplace_back(value.get_string());
    }
  };
  if (stop->is_array()) {
    if (stop->get_array().size() > limits::kStopStringsMax) {
      fields.Fail(InvalidValue("stop", "stop: expected at most " + std::to_string(limits::kStopStringsMax) +
                                           " strings, found " + std::to_string(stop->get_array().size())));
      return;
    }
    for (size_t i = 0; i < stop->get_array().size(); ++i)
      add(stop->get_array()[i], "stop[" + std::to_string(i) + "]");
  } else if (stop->is_string()) {
    add(*stop, "stop");
  } else {
    fields.Fail(InvalidValue("stop", std::string("stop: expected a string or an array of strings, found ") +
                                         JsonKindName(stop), "invalid_type"));
  }
}

void ReadStopIds(FieldReader& fields, uint32_t vocabulary, SamplingWish& wish) {
  const auto ids = fields.TokenIds("stop_token_ids", limits::kLogitBiasEntriesMax);
  if (!ids) return;
  for (const TokenId id : *ids) {
    if (static_cast<uint32_t>(id) < vocabulary) continue;
    fields.Fail(InvalidValue("stop_token_ids", "stop_token_ids: expected token ids from 0 to " +
                                                   std::to_string(vocabulary - 1) + ", found " + std::to_string(id)));
    return;
  }
  wish.stop_ids = *ids;
}

void ReadLength(FieldReader& fields, uint32_t tokens_min, SamplingWish& wish) {
  wish.max_tokens = fields.Whole("max_tokens", tokens_min, limits::kContextMax);
  const auto newer = fields.Whole("max_completion_tokens", tokens_min, limits::kContextMax);
  if (newer && wish.max_tokens && *newer != *wish.max_tokens) {
    fields.Fail(InvalidValue("max_completion_tokens",
                             "max_tokens and max_completion_tokens are two names of one value; they differ"));
  }
  if (newer) wish.max_tokens = newer;
  wish.min_tokens = fields.Whole("min_tokens", 0, limits::kContextMax);
  wish.ignore_eos = fields.Bool("ignore_eos").value_or(false);
}

// n, and beam search with best_of as its width.
void ReadSamples(FieldReader& fields, SamplingWish& wish) {
  wish.samples = fields.Whole("n", 1, limits::kSamplesMax);
  const auto best_of = fields.Whole("best_of", 1, limits::kSamplesMax);
  const uint32_t samples = wish.samples.value_or(1);
  if (!fields.Bool("use_beam_search").value_or(false)) {
    if (best_of && *best_of != samples)
      fields.Fail(Unsupported("best_of", "best_of: only the value of n, or use_beam_search, where it is the width"));
    return;
  }
  const uint32_t width = best_of.value_or(samples);
  if (width > limits::kBeamWidthMax || width < samples) {
    fields.Fail(InvalidValue("best_of", "best_of: as the width of a beam search it must be from n (" +
                                            std::to_string(samples) + ") to " +
                                            std::to_string(limits::kBeamWidthMax)));
  }
  if (wish.temperature.value_or(0) > 0)
    fields.Fail(InvalidValue("temperature", "temperature: a beam search is not sampled; it must be 0 or left out"));
  if (!wish.stop.empty()) fields.Fail(Unsupported("stop", "stop: not with use_beam_search"));
  if (wish.min_tokens.value_or(0) > 0) fields.Fail(Unsupported("min_tokens", "min_tokens: not with use_beam_search"));
  wish.temperature = 0;
  wish.beam_width = width;
}

void ReadStream(FieldReader& fields, CommonRequest& out) {
  out.stream = fields.Bool("stream").value_or(false);
  const json::object* options = fields.Object("stream_options");
  if (options == nullptr) return;
  if (!out.stream) {
    fields.Fail(InvalidValue("stream_options", "stream_options: only with stream = true"));
    return;
  }
  FieldReader reader(*options, "stream_options");
  out.stream_usage = reader.Bool("include_usage").value_or(false);
  if (reader.Bool("continuous_usage_stats").value_or(false))
    reader.Fail(Unsupported("stream_options.continuous_usage_stats",
                            "stream_options.continuous_usage_stats: usage comes once, at the end"));
  if (reader.Bool("include_obfuscation").value_or(false))
    reader.Fail(Unsupported("stream_options.include_obfuscation",
                            "stream_options.include_obfuscation: chunks are not padded here"));
  for (const std::string& name : reader.Unknown())
    reader.Fail(Unsupported(reader.Path(name), "stream_options: unknown field " + Quoted(name)));
  if (reader.error()) fields.Fail(*reader.error());
}

std::optional<Tier> TierOf(const json::value& value) {
  if (value.is_string()) return contract::ParseTier({value.get_string().data(), value.get_string().size()});
  const auto number = WholeOf(value, 2);
  return number ? contract::ParseTier(std::to_string(*number)) : std::nullopt;
}

// First found wins: header, body, metadata, the server's default.
void ReadTier(FieldReader& fields, const ParseRules& rules, CommonRequest& out) {
  const json::value* body = fields.Take("reproducibility_tier");
  const json::object* metadata = fields.Object("metadata");
  const json::value* beside = metadata ? metadata->if_contains("reproducibility_tier") : nullptr;
  std::optional<Tier> tier = rules.tier_default;
  std::string place;
  if (rules.tier_header) {
    place = "X-Reproducibility-Tier";
    tier = contract::ParseTier(*rules.tier_header);
  } else if (body != nullptr) {
    place = "reproducibility_tier";
    tier = TierOf(*body);
  } else if (beside != nullptr && !beside->is_null()) {
    place = "metadata.reproducibility_tier";
    tier = TierOf(*beside);
  }
  if (!tier)
    fields.Fail(InvalidValue(place, place + ": expected 0, 1, 2, statistical, request or strict"));
  else
    out.tier = *tier;
}

void ReadPin(FieldReader& fields, const char* name, std::optional<std::string>& pin) {
  std::optional<std::string> text = fields.Text(name);
  if (!text) return;
  if (text->starts_with("sha256:")) text->erase(0, 7);
  const bool is_digest = text->size() == 64 && text->find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_digest) {
    fields.Fail(InvalidValue(fields.Path(name), fields.Path(name) + ": expected a SHA-256 of 64 lower-case hex digits, "
                                                                    "with or without \"sha256:\" before it"));
    return;
  }
  pin = std::move(text);
}

void ReadPins(FieldReader& fields, Pins& pins) {
  const json::object* object = fields.Object("reproducibility");
  if (object == nullptr) return;
  FieldReader reader(*object, "reproducibility");
  ReadPin(reader, "fingerprint", pins.fingerprint);
  ReadPin(reader, "semantic_sha256", pins.semantic_sha256);
  ReadPin(reader, "numeric_sha256", pins.numeric_sha256);
  ReadPin(reader, "deployment_sha256", pins.deployment_sha256);
  ReadPin(reader, "model_sha256", pins.model_sha256);
  ReadPin(reader, "tokenizer_sha256", pins.tokenizer_sha256);
  ReadPin(reader, "chat_template_sha256", pins.chat_template_sha256);
  ReadPin(reader, "prompt_template_sha256", pins.prompt_template_sha256);
  // A pin that nobody knows would be one that nobody checks.
  for (const std::string& name : reader.Unknown())
    reader.Fail(Unsupported(reader.Path(name), "reproducibility: unknown pin " + Quoted(name)));
  if (reader.error()) fields.Fail(*reader.error());
}

}  // namespace

void ReadModelTierAndPins(FieldReader& fields, const ParseRules& rules, CommonRequest& out) {
  ReadTier(fields, rules, out);
  out.model = fields.Text("model");
  ReadPins(fields, out.pins);
}

void ReadCommon(FieldReader& fields, const ParseRules& rules, uint32_t tokens_min, CommonRequest& out) {
  ReadModelTierAndPins(fields, rules, out);
  ReadTemperature(fields, out.sampling);
  ReadTopK(fields, out.sampling);
  ReadProbabilities(fields, out.sampling);
  ReadBias(fields, rules.vocabulary, out.sampling);
  out.sampling.seed = fields.Whole64("seed");
  ReadStop(fields, out.sampling);
  ReadStopIds(fields, rules.vocabulary, out.sampling);
  ReadLength(fields, tokens_min, out.sampling);
  ReadSamples(fields, out.sampling);
  ReadStream(fields, out);
  if (const auto count = fields.Whole("prompt_logprobs", 0, limits::kTopLogprobsMax)) {
    out.wants_prompt_logprobs = true;
    out.prompt_logprobs = *count;
    if (out.stream) fields.Fail(Unsupported("prompt_logprobs", "prompt_logprobs: not with stream"));
  }
  out.return_token_ids = fields.Bool("return_token_ids").value_or(false);
  out.return_margins = fields.Bool("return_margins").value_or(false);
  out.tokens_as_ids = fields.Bool("return_tokens_as_token_ids").value_or(false);
  ReadResponseFormat(fields, out.response_format);
  if (out.response_format.retries && out.stream) {
    fields.Fail(Unsupported("response_format.samebit_retries",
                            "response_format.samebit_retries: an answer is validated whole; not with stream"));
  }
  if (out.response_format.retries && out.sampling.samples.value_or(1) > 1) {
    fields.Fail(Unsupported("response_format.samebit_retries", "response_format.samebit_retries: only with n = 1"));
  }
  if (out.response_format.kind != ResponseFormat::Kind::kText && out.sampling.beam_width) {
    fields.Fail(Unsupported("response_format", "response_format: not with use_beam_search"));
  }
}

void FinishFields(FieldReader& fields, CommonRequest& out) {
  if (out.return_margins && !out.wants_logprobs)
    fields.Fail(InvalidValue("return_margins", "return_margins: only with logprobs"));
  RefuseUnsupportedFields(fields);
  for (const std::string& name : fields.Unknown()) {
    if (fields.error()) return;
    if (out.tier == Tier::kStatistical) {
      out.ignored_fields.push_back(name.substr(0, 64));
      continue;
    }
    fields.Fail(Unsupported(name.substr(0, 64), "unknown field " + Quoted(name) +
                                                    ": at tier 1 and 2 it could change the answer unseen"));
  }
}

}  // namespace samebit::openai
