#include "server/prepare.h"

#include <algorithm>

#include "base/json_writer.h"
#include "text/detokenizer.h"

namespace samebit::server {
namespace {

using contract::Refusal;
using contract::Tier;
using openai::ApiError;

// OpenAI's default for completions; a chat goes on as long as the context lets it.
constexpr uint32_t kCompletionTokensDefault = 16;

template <class T>
bool Failed(const std::variant<T, ApiError>& outcome) {
  return std::holds_alternative<ApiError>(outcome);
}

}  // namespace

std::optional<ApiError> CheckModel(const ServedModel& model, const std::optional<std::string>& asked) {
  if (!asked || *asked == model.id) return std::nullopt;
  ApiError error = openai::InvalidValue("model", "the model " + openai::Quoted(*asked) + " is not served here; " +
                                                     openai::Quoted(model.id) + " is", "model_not_found");
  error.status = 404;
  return error;
}

namespace {
// A text that would not fit if each of its tokens were the longest there is, four times over because a tokenizer may shorten
// it first, is refused unread: tokenizing takes a hundred times the text's memory.
std::optional<ApiError> CheckTextSize(const ServedModel& model, uint64_t bytes, const std::string& param) {
  const uint64_t bytes_max = uint64_t{4} * model.context_max * model.token_bytes_max;
  if (bytes_max == 0 || bytes <= bytes_max) return std::nullopt;
  return openai::InvalidValue(param, "the model's context holds " + std::to_string(model.context_max) +
                                         " tokens; a text of " + std::to_string(bytes) + " bytes has more",
                              "context_length_exceeded");
}

contract::SamplingPart SamplingOf(const engine::Request& request) {
  const engine::SamplingParams& from = request.sampling;
  contract::SamplingPart part;
  part.temperature = from.temperature;
  part.top_k = from.top_k;
  part.top_p = from.top_p;
  part.min_p = from.min_p;
  part.repetition_penalty = from.repetition_penalty;
  part.presence_penalty = from.presence_penalty;
  part.frequency_penalty = from.frequency_penalty;
  part.logit_bias = from.logit_bias;
  part.beam_width = request.beam_width;
  part.seed = from.seed;
  return part;
}

}  // namespace

std::optional<ApiError> CheckPins(const openai::Pins& pins, const ServedModel& model,
                                  const contract::Fingerprint& fingerprint, const std::string& prompt_template_sha256) {
  std::vector<std::string> fields;
  const auto compare = [&](const char* name, const std::optional<std::string>& pin, std::string runs) {
    if (runs.starts_with("sha256:")) runs.erase(0, 7);
    if (pin && *pin != runs) fields.push_back(std::string("reproducibility.") + name);
  };
  compare("fingerprint", pins.fingerprint, fingerprint.inference_fingerprint);
  compare("semantic_sha256", pins.semantic_sha256, fingerprint.semantic_sha256);
  compare("numeric_sha256", pins.numeric_sha256, fingerprint.numeric_sha256);
  compare("deployment_sha256", pins.deployment_sha256, fingerprint.deployment_sha256);
  compare("model_sha256", pins.model_sha256, model.semantic.model_sha256);
  compare("tokenizer_sha256", pins.tokenizer_sha256, model.semantic.tokenizer_sha256);
  compare("chat_template_sha256", pins.chat_template_sha256, model.semantic.chat_template_sha256);
  compare("prompt_template_sha256", pins.prompt_template_sha256, prompt_template_sha256);
  if (fields.empty()) return std::nullopt;
  std::string list;
  for (const std::string& field : fields) list += (list.empty() ? "" : ", ") + field;
  ApiError error = openai::Refuse(Refusal::kFingerprintMismatch, fields.front(),
                                  "what would run differs from what the request pins: " + list);
  error.fields = std::move(fields);
  return error;
}

namespace {

std::string EffectiveJson(const engine::EffectiveSampling& effective) {
  JsonWriter json;
  json.BeginObject();
  for (const engine::EffectiveParameter& parameter : effective.parameters) {
    json.Key(parameter.name).BeginObject().Key("value").Verbatim(parameter.json);
    json.Key("source").Text(parameter.source).EndObject();
  }
  return json.EndObject().Finish();
}

// The default length of an answer is what the longest prompt leaves.
std::optional<ApiError> FitLength(const Prepared& prepared, const ServedModel& model, const std::string& param,
                                  engine::EffectiveSampling& effective) {
  size_t longest = 0;
  for (const std::vector<TokenId>& prompt : prepared.prompts) longest = std::max(longest, prompt.size());
  const auto too_long = [&](const std::string& wants) {
    return openai::InvalidValue(param, "the model's context holds " + std::to_string(model.context_max) +
                                           " tokens; the prompt has " + std::to_string(longest) + wants,
                                "context_length_exceeded");
  };
  if (longest >= model.context_max) return too_long(" and leaves no room for an answer");
  effective.FitTokensMax(model.context_max - static_cast<uint32_t>(longest));
  if (longest + effective.request.tokens_max > model.context_max)
    return too_long(" and the answer may have " + std::to_string(effective.request.tokens_max));
  if (effective.request.tokens_min > effective.request.tokens_max) {
    return openai::InvalidValue("min_tokens", "min_tokens: " + std::to_string(effective.request.tokens_min) +
                                                  " is more than the answer's " +
                                                  std::to_string(effective.request.tokens_max) + " tokens");
  }
  return std::nullopt;
}

std::optional<ApiError> AllowAttempts(const engine::Request& request, Prepared& prepared) {
  const std::optional<uint32_t> retries = prepared.common.response_format.retries;
  if (!retries) return std::nullopt;
  constexpr const char* kParam = "response_format.samebit_retries";
  if (prepared.prompts.size() > 1 || request.samples > 1)
    return openai::Unsupported(kParam, std::string(kParam) + ": only for one prompt and n = 1");
  if (*retries > 0 && request.sampling.temperature == 0) {
    return openai::InvalidValue(kParam, std::string(kParam) +
                                            ": a greedy answer is the same each time; use 0 to have it validated, or a "
                                            "temperature over 0");
  }
  prepared.attempts_max = *retries + 1;
  return std::nullopt;
}

// What is the same for both endpoints, once the prompts are ids.
std::variant<Prepared, ApiError> Complete(Prepared prepared, uint32_t tokens_default, const std::string& param,
                                          const PrepareInput& input) {
  const ServedModel& model = input.model;
  SamplingWish wish = prepared.common.sampling;
  prepared.drops_answer = wish.max_tokens == 0u;
  if (prepared.drops_answer) wish.max_tokens = 1;

  engine::SamplingSources sources{model.defaults, model.checkpoint, tokens_default, input.fresh_seed};
  engine::EffectiveSampling effective = engine::ResolveSampling(wish, sources, *model.spec);
  if (const auto error = FitLength(prepared, model, param, effective)) return *error;
  engine::Request& request = effective.request;
  if (prepared.common.tier != Tier::kStatistical && request.sampling.temperature > 0 && !wish.seed) {
    return openai::Refuse(Refusal::kSeedRequired, "seed",
                          "seed: at tier 1 and 2 a sampled answer needs one, so that it can be made again; give a seed, "
                          "set temperature to 0, or ask for reproducibility_tier 0");
  }
  request.top_logprobs = std::max(wish.logprobs.value_or(0), prepared.common.prompt_logprobs);
  request.score_prompt =
      prepared.common.wants_prompt_logprobs || (prepared.echo && prepared.common.wants_logprobs);
  prepared.samples = request.samples;
  if (const auto error = MakeForm(prepared.common.response_format, model, prepared.form)) return *error;
  request.grammar = prepared.form.grammar;
  if (const auto error = AllowAttempts(request, prepared)) return *error;

  const std::string& prompt_sha256 = prepared.prompt_template.sha256;
  const contract::Fingerprint fingerprint = FingerprintOf(model, request, prepared.form.sha256, prompt_sha256);
  if (const auto error = CheckPins(prepared.common.pins, model, fingerprint, prompt_sha256)) return *error;
  openai::Reproducibility& says = prepared.reproducibility;
  says.tier_requested = says.tier_effective = contract::TierNumber(prepared.common.tier);
  says.inference_fingerprint = fingerprint.inference_fingerprint;
  says.semantic_sha256 = fingerprint.semantic_sha256;
  says.numeric_sha256 = fingerprint.numeric_sha256;
  says.deployment_sha256 = fingerprint.deployment_sha256;
  says.seed = std::to_string(request.sampling.seed);
  says.effective_sampling_json = EffectiveJson(effective);
  says.prompt_template_name = prepared.prompt_template.name;
  says.prompt_template_version = prepared.prompt_template.version;
  says.prompt_template_sha256 = prompt_sha256;
  says.has_logprobs = prepared.common.wants_logprobs || prepared.common.wants_prompt_logprobs;
  says.ignored_fields = prepared.common.ignored_fields;
  const char* prefix = prepared.endpoint == openai::Endpoint::kChat ? "chatcmpl-" : "cmpl-";
  prepared.head = {prefix + input.answer_id, input.now_unix_seconds, model.id,
                   contract::SystemFingerprint(model.version, fingerprint)};

  for (const std::vector<TokenId>& prompt : prepared.prompts) {
    prepared.requests.push_back(request);
    prepared.requests.back().prompt = prompt;
  }
  prepared.tools.id_seed = CallIdSeed(fingerprint.semantic_sha256, prepared.prompts.front());
  if (prepared.attempts_max > 0) prepared.attempt = prepared.requests.front();
  return prepared;
}

// A conversation that goes on behind a template's messages. Its instructions are the template's: two of them would be
// an order that the model's own template decides.
std::optional<ApiError> PutInFront(std::vector<openai::ChatMessage> prompt, std::vector<openai::ChatMessage>& messages) {
  for (size_t i = 0; i < messages.size(); ++i) {
    const std::string path = "messages[" + std::to_string(i) + "].role";
    if (messages[i].role == "system")
      return openai::InvalidValue(path, path + ": behind a prompt template only user and assistant may speak");
  }
  messages.insert(messages.begin(), std::make_move_iterator(prompt.begin()), std::make_move_iterator(prompt.end()));
  return std::nullopt;
}

}  // namespace

contract::Fingerprint FingerprintOf(const ServedModel& model, const engine::Request& request,
                                    const std::string& form_sha256, const std::string& prompt_template_sha256) {
  contract::SemanticPart semantic = model.semantic;
  semantic.prompt_template_sha256 = prompt_template_sha256;
  semantic.sampling = SamplingOf(request);
  semantic.response_format_sha256 = form_sha256;
  semantic.max_tokens = request.tokens_max;
  semantic.min_tokens = request.tokens_min;
  semantic.stop = request.stop_strings;
  semantic.stop_token_ids = request.stop_ids;
  return contract::MakeFingerprint(semantic, *model.fixed);
}

openai::ApiError ToApiError(const Error& error, const std::string& param) {
  ApiError out = openai::InvalidValue(param, error.message);
  switch (error.code) {
    case ErrorCode::kContextOverflow:
      out.code = "context_length_exceeded";
      break;
    case ErrorCode::kTooLarge:
      out.code = "too_large";
      break;
    case ErrorCode::kUnsupported:
      return openai::Unsupported(param, error.message);
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kMalformed:
      break;
    case ErrorCode::kCancelled:
      out.status = 503;
      out.type = "server_error";
      out.code = "server_stopping";
      break;
    default:
      out.status = 500;
      out.type = "server_error";
      out.param.clear();
      out.code = ErrorCodeName(error.code);
  }
  return out;
}

std::variant<std::vector<TokenId>, ApiError> ChatPromptIds(const std::vector<openai::ChatMessage>& messages,
                                                           const std::string& variables_json,
                                                           bool add_generation_prompt, Tier tier,
                                                           const PrepareInput& input, const std::string& tools_json) {
  const ServedModel& model = input.model;
  if (model.chat_encoder == nullptr) {
    return openai::Unsupported("messages", "this model has no chat template; use /v1/completions");
  }
  if (const auto error = CheckToolMessages(messages, model)) return *error;
  std::vector<text::ChatMessage> turns;
  for (const openai::ChatMessage& message : messages) turns.push_back({message.role, message.content, message.extra_json});
  text::RenderOptions options = text::RenderOptionsFor(*model.tokenizer, *model.spec);
  options.add_generation_prompt = add_generation_prompt;
  options.extra_json = variables_json;
  options.tools_json = tools_json;
  if (tier == Tier::kStatistical) options.now_unix_seconds = input.now_unix_seconds;
  Result<std::vector<TokenId>> ids = model.chat_encoder->Encode(std::move(turns), options);
  if (!ids.ok() && ids.error().code == ErrorCode::kUnsupported && tier != Tier::kStatistical) {
    return openai::Refuse(Refusal::kForbiddenFeature, "messages",
                          ids.error().message + "; at tier 1 and 2 a prompt may not hold the date of today: pin it with "
                                                "chat_template_kwargs, if the template has such a variable");
  }
  if (!ids.ok()) return ToApiError(ids.error(), "messages");
  if (ids->empty()) return openai::InvalidValue("messages", "messages: the chat template makes no text of them");
  return std::move(ids).value();
}

std::variant<Prepared, ApiError> PrepareChat(openai::ChatRequest request, const PrepareInput& input) {
  if (const auto error = CheckModel(input.model, request.common.model)) return *error;
  Prepared prepared;
  if (request.prompt_template) {
    auto rendered = RenderPrompt(input.model.prompts, *request.prompt_template, request.common.tier);
    if (Failed(rendered)) return std::get<ApiError>(rendered);
    prepared.prompt_template = std::move(std::get<0>(rendered));
    if (const auto error = PutInFront(std::move(prepared.prompt_template.messages), request.messages)) return *error;
  }
  uint64_t bytes = request.tools.tools_json.size();
  for (const openai::ChatMessage& message : request.messages) bytes += message.content.size();
  if (const auto error = CheckTextSize(input.model, bytes, "messages")) return *error;
  const bool tells_tools = request.tools.choice != openai::ToolRequest::Choice::kNone;
  if (const auto error = PlanTools(request.tools, input.model, prepared.tools, prepared.form)) return *error;
  auto ids = ChatPromptIds(request.messages, request.template_variables_json, true, request.common.tier, input,
                           tells_tools ? request.tools.tools_json : "");
  if (Failed(ids)) return std::get<ApiError>(ids);
  prepared.endpoint = openai::Endpoint::kChat;
  prepared.common = std::move(request.common);
  prepared.prompts.push_back(std::move(std::get<0>(ids)));
  return Complete(std::move(prepared), input.model.context_max, "messages", input);
}

std::variant<Prepared, ApiError> PrepareCompletion(openai::CompletionRequest request, const PrepareInput& input) {
  const ServedModel& model = input.model;
  if (const auto error = CheckModel(model, request.common.model)) return *error;
  Prepared prepared;
  prepared.endpoint = openai::Endpoint::kCompletions;
  prepared.common = std::move(request.common);
  prepared.echo = request.echo;
  for (size_t i = 0; i < request.prompts.size(); ++i) {
    const std::string param = request.prompts.size() == 1 ? "prompt" : "prompt[" + std::to_string(i) + "]";
    std::vector<TokenId> ids;
    if (const auto* text = std::get_if<std::string>(&request.prompts[i])) {
      if (const auto error = CheckTextSize(model, text->size(), param)) return *error;
      Result<std::vector<TokenId>> encoded =
          request.add_special_tokens ? text::PromptIds(*model.tokenizer, *model.spec, *text)
                                     : model.tokenizer->Encode(*text, text::Specials::kParse);
      if (!encoded.ok()) return ToApiError(encoded.error(), param);
      ids = std::move(encoded).value();
    } else {
      ids = std::move(std::get<std::vector<TokenId>>(request.prompts[i]));
    }
    if (ids.empty()) return openai::InvalidValue(param, param + ": it is empty; give it at least one token");
    if (prepared.echo) {
      const auto* text = std::get_if<std::string>(&request.prompts[i]);
      prepared.prompt_texts.push_back(text != nullptr ? *text : TextOf(*model.tokenizer, ids));
    }
    prepared.prompts.push_back(std::move(ids));
  }
  return Complete(std::move(prepared), kCompletionTokensDefault, "prompt", input);
}

std::string TextOf(const text::Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  text::Detokenizer detokenizer(tokenizer);
  std::string text;
  for (const TokenId id : ids) text += detokenizer.Push(id);
  return text + detokenizer.Finish();
}

}  // namespace samebit::server
