#include "server/token_answers.h"

#include <algorithm>
#include <optional>

#include "base/json_writer.h"
#include "base/limits.h"
#include "openai/tokenizer_info.h"

namespace samebit::server {

using openai::ApiError;

namespace {

using Messages = std::vector<openai::ChatMessage>;

std::optional<ApiError> CheckSize(const openai::TokenizeRequest& asked, const ServedModel& model) {
  const auto* text = std::get_if<std::string>(&asked.input);
  uint64_t bytes = text != nullptr ? text->size() : 0;
  if (text == nullptr)
    for (const openai::ChatMessage& message : std::get<Messages>(asked.input))
      bytes += message.role.size() + message.content.size() + message.extra_json.size();
  const uint64_t bytes_max =
      std::max(limits::kTokenizeBytesMax, limits::kTokenizeBytesPerToken * uint64_t{model.context_max});
  if (bytes <= bytes_max) return std::nullopt;
  const std::string param = text != nullptr ? "prompt" : "messages";
  return openai::InvalidValue(param, param + ": expected at most " + std::to_string(bytes_max) + " bytes, found " +
                                         std::to_string(bytes) + "; a longer text can be counted in parts",
                              "too_large");
}

std::variant<std::vector<TokenId>, ApiError> IdsOf(const openai::TokenizeRequest& asked, const PrepareInput& input) {
  const ServedModel& model = input.model;
  if (const auto* messages = std::get_if<Messages>(&asked.input))
    return ChatPromptIds(*messages, "", asked.add_generation_prompt, contract::Tier::kStrict, input);
  const std::string& text = std::get<std::string>(asked.input);
  Result<std::vector<TokenId>> ids = !asked.add_special_tokens ? model.tokenizer->Encode(text, text::Specials::kParse)
                                     : model.generates ? text::PromptIds(*model.tokenizer, *model.spec, text)
                                                       : text::EmbeddingIds(*model.tokenizer, *model.spec, text);
  if (!ids.ok()) return ToApiError(ids.error(), "prompt");
  return std::move(ids).value();
}

}  // namespace

std::variant<std::string, ApiError> TokenizeAnswer(const openai::TokenizeRequest& asked, const PrepareInput& input) {
  const ServedModel& model = input.model;
  if (const auto error = CheckSize(asked, model)) return *error;
  const auto encoded = IdsOf(asked, input);
  if (const auto* error = std::get_if<ApiError>(&encoded)) return *error;
  const auto& ids = std::get<0>(encoded);
  JsonWriter json;
  json.BeginObject().Key("count").Number(ids.size()).Key("max_model_len").Number(model.context_max).Key("tokens");
  openai::WriteIds(json, ids);
  json.Key("token_strs");
  if (asked.return_token_strs) {
    json.BeginArray();
    for (const TokenId id : ids) json.Text(model.tokenizer->Piece(id));
    json.EndArray();
  } else {
    json.Null();
  }
  return json.EndObject().Finish();
}

std::string DetokenizeAnswer(const openai::DetokenizeRequest& asked, const ServedModel& model) {
  JsonWriter json;
  return json.BeginObject().Key("prompt").Text(TextOf(*model.tokenizer, asked.tokens)).EndObject().Finish();
}

std::string TokenizerInfoAnswer(const ServedModel& model) {
  const auto piece = [&model](std::optional<TokenId> id) -> std::optional<std::string> {
    if (!id) return std::nullopt;
    return std::string(model.tokenizer->Piece(*id));
  };
  openai::TokenizerInfo info;
  info.bos = piece(model.spec->bos);
  info.eos = piece(model.spec->eos);
  info.unk = piece(model.spec->unk);
  info.pad = piece(model.spec->pad);
  info.add_bos = model.spec->add_bos;
  info.add_eos = model.spec->add_eos;
  info.context_max = model.context_max;
  if (model.chat_template != nullptr) info.chat_template = model.chat_template_source;
  return openai::TokenizerInfoJson(info);
}

}  // namespace samebit::server
