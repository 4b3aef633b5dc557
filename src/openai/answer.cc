#include "openai/answer.h"

#include "base/check.h"

namespace samebit::openai {
namespace {

void WriteFinishReason(JsonWriter& json, const std::string& reason) {
  json.Key("finish_reason");
  if (reason.empty())
    json.Verbatim("null");
  else
    json.Text(reason);
}

void WriteLogprobs(JsonWriter& json, Endpoint endpoint, const std::optional<std::vector<TokenEntry>>& tokens,
                   uint64_t* text_offset) {
  json.Key("logprobs");
  if (!tokens)
    json.Verbatim("null");
  else if (endpoint == Endpoint::kChat)
    WriteChatLogprobs(json, *tokens);
  else
    WriteCompletionLogprobs(json, *tokens, text_offset);
}

enum class Whole { kYes, kNo };

void WriteCalls(JsonWriter& json, const std::vector<ToolCallDelta>& calls, Whole whole) {
  if (calls.empty()) return;
  json.Key("tool_calls").BeginArray();
  for (const ToolCallDelta& call : calls) {
    json.BeginObject();
    if (whole == Whole::kNo) json.Key("index").Number(call.index);
    if (!call.id.empty()) json.Key("id").Text(call.id).Key("type").Text("function");
    json.Key("function").BeginObject();
    if (!call.id.empty()) json.Key("name").Text(call.name);
    json.Key("arguments").Text(call.arguments).EndObject().EndObject();
  }
  json.EndArray();
}

void WriteChoice(JsonWriter& json, Endpoint endpoint, const AnswerChoice& choice) {
  json.BeginObject().Key("index").Number(choice.index);
  if (endpoint == Endpoint::kChat) {
    json.Key("message").BeginObject().Key("role").Text("assistant").Key("content");
    if (choice.text.empty() && !choice.calls.empty())
      json.Null();
    else
      json.Text(choice.text);
    WriteCalls(json, choice.calls, Whole::kYes);
    json.Key("refusal").Verbatim("null").EndObject();
  } else {
    json.Key("text").Text(choice.text);
  }
  uint64_t text_offset = 0;
  WriteLogprobs(json, endpoint, choice.logprobs, &text_offset);
  WriteFinishReason(json, choice.finish_reason);
  if (choice.token_ids) {
    json.Key("token_ids");
    WriteIds(json, *choice.token_ids);
  }
  json.EndObject();
}

// One prompt: its value; several: an array of them.
template <class Element, class Write>
void WritePerPrompt(JsonWriter& json, const char* name, const std::vector<Element>& prompts, Write write) {
  if (prompts.empty()) return;
  json.Key(name);
  if (prompts.size() == 1) {
    write(json, prompts.front());
    return;
  }
  json.BeginArray();
  for (const Element& one : prompts) write(json, one);
  json.EndArray();
}

}  // namespace

std::string AnswerJson(const Answer& answer) {
  JsonWriter json;
  json.BeginObject();
  WriteHead(json, answer.head, answer.endpoint == Endpoint::kChat ? "chat.completion" : "text_completion");
  json.Key("choices").BeginArray();
  for (const AnswerChoice& choice : answer.choices) WriteChoice(json, answer.endpoint, choice);
  json.EndArray().Key("usage");
  WriteUsage(json, answer.usage);
  WritePerPrompt(json, "prompt_token_ids", answer.prompt_token_ids, WriteIds);
  WritePerPrompt(json, "prompt_logprobs", answer.prompt_logprobs, WritePromptLogprobs);
  json.Key("reproducibility");
  WriteReproducibility(json, answer.reproducibility);
  return json.EndObject().Finish();
}

std::string ChunkJson(Endpoint endpoint, const AnswerHead& head, const ChunkChoice* choice, const ChunkExtras& extras) {
  JsonWriter json;
  json.BeginObject();
  WriteHead(json, head, endpoint == Endpoint::kChat ? "chat.completion.chunk" : "text_completion");
  json.Key("choices").BeginArray();
  if (choice != nullptr) {
    json.BeginObject().Key("index").Number(choice->index);
    if (endpoint == Endpoint::kChat) {
      json.Key("delta").BeginObject();
      if (choice->gives_role) json.Key("role").Text("assistant");
      if (choice->gives_role || !choice->text.empty() || (choice->finish_reason.empty() && choice->calls.empty()))
        json.Key("content").Text(choice->text);
      WriteCalls(json, choice->calls, Whole::kNo);
      json.EndObject();
    } else {
      json.Key("text").Text(choice->text);
    }
    WriteLogprobs(json, endpoint, choice->logprobs, choice->text_offset);
    WriteFinishReason(json, choice->finish_reason);
    if (choice->token_ids) {
      json.Key("token_ids");
      WriteIds(json, *choice->token_ids);
    }
    json.EndObject();
  }
  json.EndArray();
  if (extras.prompt_token_ids != nullptr) {
    json.Key("prompt_token_ids");
    WriteIds(json, *extras.prompt_token_ids);
  }
  if (extras.usage != nullptr) {
    json.Key("usage");
    WriteUsage(json, *extras.usage);
  } else if (extras.usage_is_null) {
    json.Key("usage").Verbatim("null");
  }
  if (extras.reproducibility != nullptr) {
    json.Key("reproducibility");
    WriteReproducibility(json, *extras.reproducibility);
  }
  return json.EndObject().Finish();
}

std::string SseEvent(std::string_view json) {
  std::string event = "data: ";
  event += json;
  event += "\n\n";
  return event;
}

}  // namespace samebit::openai
