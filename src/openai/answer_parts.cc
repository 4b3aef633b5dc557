#include "openai/answer_parts.h"

#include <algorithm>
#include <set>

namespace samebit::openai {
namespace {

void WriteBytes(JsonWriter& json, const std::string& bytes) {
  json.Key("bytes").BeginArray();
  for (const char c : bytes) json.Number(static_cast<unsigned>(static_cast<unsigned char>(c)));
  json.EndArray();
}

void WriteEntry(JsonWriter& json, const TopEntry& entry) {
  json.Key("token").Text(entry.token).Key("logprob").Number(entry.logprob);
  WriteBytes(json, entry.bytes);
}

// By first bytes, so that a character in two tokens counts once.
uint64_t Characters(const std::string& bytes) {
  uint64_t count = 0;
  for (const char c : bytes) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

// Only where they were asked for; null for the first token of a prompt.
void WriteMargins(JsonWriter& json, const std::vector<TokenEntry>& tokens) {
  if (std::none_of(tokens.begin(), tokens.end(), [](const TokenEntry& token) { return token.margin.has_value(); })) return;
  json.Key("logit_margins").BeginArray();
  for (const TokenEntry& token : tokens) {
    if (token.margin)
      json.Number(*token.margin);
    else
      json.Null();
  }
  json.EndArray();
}

}  // namespace

void WriteHead(JsonWriter& json, const AnswerHead& head, const char* object) {
  json.Key("id").Text(head.id).Key("object").Text(object).Key("created").Number(head.created);
  json.Key("model").Text(head.model).Key("system_fingerprint").Text(head.system_fingerprint);
}

void WriteIds(JsonWriter& json, const std::vector<TokenId>& ids) {
  json.BeginArray();
  for (const TokenId id : ids) json.Number(id);
  json.EndArray();
}

void WriteUsage(JsonWriter& json, const Usage& usage) {
  json.BeginObject().Key("prompt_tokens").Number(usage.prompt_tokens);
  json.Key("completion_tokens").Number(usage.completion_tokens);
  json.Key("total_tokens").Number(usage.prompt_tokens + usage.completion_tokens);
  json.Key("prompt_tokens_details").BeginObject().Key("cached_tokens").Number(usage.cached_tokens).EndObject();
  json.EndObject();
}

void WriteReproducibility(JsonWriter& json, const Reproducibility& from) {
  json.BeginObject();
  json.Key("tier_requested").Number(from.tier_requested).Key("tier_effective").Number(from.tier_effective);
  json.Key("inference_fingerprint").Text(from.inference_fingerprint);
  json.Key("semantic_sha256").Text(from.semantic_sha256).Key("numeric_sha256").Text(from.numeric_sha256);
  json.Key("deployment_sha256").Text(from.deployment_sha256).Key("seed").Text(from.seed);
  json.Key("effective_sampling").Verbatim(from.effective_sampling_json);
  if (!from.prompt_template_sha256.empty()) {
    json.Key("prompt_template").BeginObject().Key("name").Text(from.prompt_template_name);
    json.Key("version").Text(from.prompt_template_version).Key("sha256").Text(from.prompt_template_sha256).EndObject();
  }
  json.Key("cache").Text("bypass").Key("verified").Text("none");
  if (from.has_logprobs) json.Key("logprobs_mode").Text("raw_logprobs");
  if (!from.ignored_fields.empty()) {
    json.Key("ignored_fields").BeginArray();
    for (const std::string& name : from.ignored_fields) json.Text(name);
    json.EndArray();
  }
  if (!from.attempts.empty()) {
    json.Key("attempts").BeginArray();
    for (const Attempt& attempt : from.attempts) {
      json.BeginObject().Key("seed").Text(attempt.seed).Key("finish_reason").Text(attempt.finish_reason);
      json.Key("completion_tokens").Number(attempt.completion_tokens).Key("valid").Bool(attempt.complaint.empty());
      if (!attempt.complaint.empty()) json.Key("complaint").Text(attempt.complaint);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

void WriteChatLogprobs(JsonWriter& json, const std::vector<TokenEntry>& tokens) {
  json.BeginObject().Key("content").BeginArray();
  for (const TokenEntry& token : tokens) {
    json.BeginObject();
    WriteEntry(json, token.token);
    if (token.margin) json.Key("logit_margin").Number(*token.margin);
    json.Key("top_logprobs").BeginArray();
    for (const TopEntry& top : token.top) {
      json.BeginObject();
      WriteEntry(json, top);
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().Key("refusal").Verbatim("null").EndObject();
}

void WriteCompletionLogprobs(JsonWriter& json, const std::vector<TokenEntry>& tokens, uint64_t* text_offset) {
  json.BeginObject().Key("tokens").BeginArray();
  for (const TokenEntry& token : tokens) json.Text(token.token.token);
  json.EndArray().Key("token_logprobs").BeginArray();
  for (const TokenEntry& token : tokens) {
    if (token.has_logprob)
      json.Number(token.token.logprob);
    else
      json.Verbatim("null");
  }
  json.EndArray().Key("top_logprobs").BeginArray();
  for (const TokenEntry& token : tokens) {
    if (!token.has_logprob) {
      json.Verbatim("null");
      continue;
    }
    // Tokens of one text would be one key twice: the likelier one, which comes first, stays.
    std::set<std::string> written;
    json.BeginObject();
    for (const TopEntry& top : token.top)
      if (written.insert(top.token).second) json.Key(top.token).Number(top.logprob);
    // The token itself is always among them, as in the original interface.
    if (written.insert(token.token.token).second) json.Key(token.token.token).Number(token.token.logprob);
    json.EndObject();
  }
  json.EndArray().Key("text_offset").BeginArray();
  for (const TokenEntry& token : tokens) {
    json.Number(*text_offset);
    *text_offset += Characters(token.token.bytes);
  }
  json.EndArray();
  WriteMargins(json, tokens);
  json.EndObject();
}

void WritePromptLogprobs(JsonWriter& json, const std::vector<TokenEntry>& tokens) {
  json.BeginArray();
  for (const TokenEntry& token : tokens) {
    if (!token.has_logprob) {
      json.Verbatim("null");
      continue;
    }
    json.BeginObject();
    bool among = false;
    const auto write = [&](const TopEntry& entry, const std::string& rank) {
      json.Key(std::to_string(entry.id)).BeginObject().Key("logprob").Number(entry.logprob);
      json.Key("rank").Verbatim(rank).Key("decoded_token").Text(entry.token).EndObject();
    };
    for (size_t i = 0; i < token.top.size(); ++i) {
      write(token.top[i], std::to_string(i + 1));
      among = among || token.top[i].id == token.token.id;
    }
    // Its rank among all is not counted when it is not one of the candidates.
    if (!among) write(token.token, "null");
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace samebit::openai
