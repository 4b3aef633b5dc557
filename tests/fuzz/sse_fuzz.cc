// Any bytes as the text and the tokens of a stream: each event is one line of JSON that holds the text, and nothing in
// it can end the event or begin another.
#include <cstdlib>
#include <string>

#include "base/json_reader.h"
#include "base/valid_utf8.h"
#include "http/wire_text.h"
#include "openai/answer.h"
#include "openai/api_error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace samebit;
  const std::string text(reinterpret_cast<const char*>(data), size);
  openai::TokenEntry token;
  token.token = {text, text, -1, 3};
  token.top = {token.token, {text.substr(size / 2), text.substr(size / 2), -2, 4}};
  uint64_t offset = 0;
  for (const openai::Endpoint endpoint : {openai::Endpoint::kChat, openai::Endpoint::kCompletions}) {
    openai::ChunkChoice choice;
    choice.text = text;
    choice.logprobs = {token};
    choice.text_offset = &offset;
    const std::string event =
        openai::SseEvent(openai::ChunkJson(endpoint, {text, 1, text, text}, &choice, {.usage_is_null = true}));
    if (event.find('\n') != event.size() - 2 || event.find('\r') != std::string::npos) std::abort();
    const auto json = ReadJson(event.substr(6, event.size() - 8), "event");
    if (!json.ok()) std::abort();
    const auto& written = json->at("choices").at(0);
    const auto& back = endpoint == openai::Endpoint::kChat ? written.at("delta").at("content") : written.at("text");
    if (std::string_view(back.as_string()) != ValidUtf8(text)) std::abort();
    if (!ReadJson(openai::ErrorJson(openai::InvalidValue(text, text, text)), "error").ok()) std::abort();
    // A head has as many lines as headers, whatever they are made of.
    http::Response response;
    response.headers = {{"X-Id", text}};
    const std::string head = http::ResponseHead(response, {});
    size_t lines = 0;
    for (const char c : head) lines += c == '\n';
    if (lines != 6) std::abort();
  }
  return 0;
}
