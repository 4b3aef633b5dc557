#include <cmath>

#include <boost/json/value.hpp>

#include "base/json_reader.h"
#include "base/valid_utf8.h"
#include "verify/remote/wire.h"

namespace samebit::verify {
namespace {

namespace json = boost::json;

constexpr size_t kSentenceBytesMax = 300;  // of a server's error: enough to know, little enough for a table
constexpr size_t kDigestShown = 16;         // characters of a digest: enough to tell two apart, few enough to read
// A choice's index: more than limits::kSamplesMax choices are never asked for.
constexpr uint64_t kChoiceIndexMax = limits::kSamplesMax;

const json::value* Find(const json::value& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const json::value* found = object.get_object().if_contains(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::optional<uint64_t> WholeOf(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_int64() && value->get_int64() >= 0) return static_cast<uint64_t>(value->get_int64());
  if (value->is_uint64()) return value->get_uint64();
  return std::nullopt;
}

std::optional<uint32_t> CountOf(const json::value* value) {
  const auto whole = WholeOf(value);
  return whole && *whole <= UINT32_MAX ? std::optional(static_cast<uint32_t>(*whole)) : std::nullopt;
}

std::optional<TokenId> IdOf(const json::value* value) {
  const auto whole = WholeOf(value);
  return whole && *whole <= INT32_MAX ? std::optional(static_cast<TokenId>(*whole)) : std::nullopt;
}

std::optional<double> NumberOf(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_double()) return value->get_double();
  if (value->is_int64()) return static_cast<double>(value->get_int64());
  if (value->is_uint64()) return static_cast<double>(value->get_uint64());
  return std::nullopt;
}

std::string TextOf(const json::value* value) {
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

Error Unexpected(const std::string& what) { return {ErrorCode::kMalformed, "the server's answer: " + what}; }

// {"token": "a", "bytes": [97], "logprob": -1.5, "id": 7}; bytes and id may be missing.
WireCandidate CandidateOf(const json::value& entry) {
  WireCandidate candidate;
  candidate.id = IdOf(Find(entry, "id"));
  candidate.bytes = TextOf(Find(entry, "token"));
  candidate.logprob = NumberOf(Find(entry, "logprob")).value_or(0);
  if (const json::value* bytes = Find(entry, "bytes"); bytes != nullptr && bytes->is_array()) {
    candidate.bytes.clear();
    for (const json::value& byte : bytes->get_array()) {
      const auto value = WholeOf(&byte);
      if (value && *value < 256) candidate.bytes += static_cast<char>(*value);
    }
  }
  return candidate;
}

// Chat's form, which llama.cpp uses for completions as well.
void AddContentLogprobs(const json::array& content, WireChoice& choice) {
  for (const json::value& entry : content) {
    WireToken token;
    token.token = CandidateOf(entry);
    token.has_logprob = NumberOf(Find(entry, "logprob")).has_value();
    if (const json::value* top = Find(entry, "top_logprobs"); top != nullptr && top->is_array())
      for (const json::value& candidate : top->get_array()) token.top.push_back(CandidateOf(candidate));
    choice.tokens.push_back(std::move(token));
  }
}

// The old form of completions: parallel lists; the candidates of a position are an object.
Status AddListLogprobs(const json::value& logprobs, WireChoice& choice) {
  const json::value* tokens = Find(logprobs, "tokens");
  const json::value* values = Find(logprobs, "token_logprobs");
  if (tokens == nullptr || !tokens->is_array() || values == nullptr || !values->is_array() ||
      tokens->get_array().size() != values->get_array().size())
    return Unexpected("expected logprobs with tokens and token_logprobs of one length");
  const json::value* tops = Find(logprobs, "top_logprobs");
  for (size_t i = 0; i < tokens->get_array().size(); ++i) {
    WireToken token;
    token.token.bytes = TextOf(&tokens->get_array()[i]);
    const auto value = NumberOf(&values->get_array()[i]);
    token.has_logprob = value.has_value();
    token.token.logprob = value.value_or(0);
    if (tops != nullptr && tops->is_array() && i < tops->get_array().size() && tops->get_array()[i].is_object())
      for (const auto& [text, logprob] : tops->get_array()[i].get_object())
        token.top.push_back({std::nullopt, std::string(text), NumberOf(&logprob).value_or(0)});
    choice.tokens.push_back(std::move(token));
  }
  return {};
}

Status AddChoice(const json::value& from, Endpoint endpoint, WireAnswer& answer) {
  const uint64_t index = WholeOf(Find(from, "index")).value_or(0);
  if (!from.is_object() || index >= kChoiceIndexMax) return Unexpected("expected choices that are numbered from 0");
  WireChoice& choice = answer.choices[static_cast<uint32_t>(index)];
  if (endpoint == Endpoint::kChat) {
    const json::value* message = Find(from, "message");
    if (message == nullptr) message = Find(from, "delta");
    if (message != nullptr) choice.text += TextOf(Find(*message, "content"));
  } else {
    choice.text += TextOf(Find(from, "text"));
  }
  if (const json::value* ids = Find(from, "token_ids"); ids != nullptr && ids->is_array())
    for (const json::value& id : ids->get_array()) {
      const auto read = IdOf(&id);
      if (!read) return Unexpected("expected token ids from 0 to 2147483647");
      choice.ids.push_back(*read);
    }
  if (const json::value* logprobs = Find(from, "logprobs")) {
    const json::value* content = Find(*logprobs, "content");
    if (content != nullptr && content->is_array()) AddContentLogprobs(content->get_array(), choice);
    else if (Find(*logprobs, "tokens") != nullptr) RETURN_IF_ERROR(AddListLogprobs(*logprobs, choice));
  }
  if (const json::value* reason = Find(from, "finish_reason")) choice.finish_reason = TextOf(reason);
  return {};
}

// SGLang: [[logprob, id, text or null], ...].
std::optional<WireCandidate> TripleOf(const json::value& entry) {
  if (!entry.is_array() || entry.get_array().size() < 2) return std::nullopt;
  const auto logprob = NumberOf(&entry.get_array()[0]);
  const auto id = IdOf(&entry.get_array()[1]);
  if (!logprob || !id) return std::nullopt;
  return WireCandidate{id, "", *logprob};
}

// SGLang's answer, or a chunk of it: every chunk holds the whole answer so far, so that the last one counts.
Status AddGenerated(const json::value& from, uint32_t index_in_list, WireAnswer& answer) {
  const json::value* meta = Find(from, "meta_info");
  if (meta == nullptr) return Unexpected("expected meta_info");
  const uint32_t index = CountOf(Find(from, "index")).value_or(index_in_list);
  if (index >= kChoiceIndexMax) return Unexpected("expected choices that are numbered from 0");
  WireChoice& choice = answer.choices[index] = {};
  choice.text = TextOf(Find(from, "text"));
  if (const json::value* ids = Find(from, "output_ids"); ids != nullptr && ids->is_array())
    for (const json::value& id : ids->get_array())
      if (const auto read = IdOf(&id)) choice.ids.push_back(*read);
  const json::value* logprobs = Find(*meta, "output_token_logprobs");
  const json::value* tops = Find(*meta, "output_top_logprobs");
  if (logprobs != nullptr && logprobs->is_array())
    for (size_t i = 0; i < logprobs->get_array().size(); ++i) {
      const auto candidate = TripleOf(logprobs->get_array()[i]);
      if (!candidate) return Unexpected("expected log-probabilities as [number, token id, text]");
      WireToken token{*candidate, true, {}};
      if (tops != nullptr && tops->is_array() && i < tops->get_array().size() && tops->get_array()[i].is_array())
        for (const json::value& entry : tops->get_array()[i].get_array())
          if (const auto top = TripleOf(entry)) token.top.push_back(*top);
      choice.tokens.push_back(std::move(token));
    }
  if (choice.ids.empty())
    for (const WireToken& token : choice.tokens) choice.ids.push_back(*token.token.id);
  if (const json::value* reason = Find(*meta, "finish_reason"))
    choice.finish_reason = reason->is_string() ? TextOf(reason) : TextOf(Find(*reason, "type"));
  answer.prompt_tokens = CountOf(Find(*meta, "prompt_tokens"));
  answer.cached_tokens = CountOf(Find(*meta, "cached_tokens"));
  return {};
}

}  // namespace

std::string ErrorSentence(std::string_view body) {
  std::string sentence(body);
  if (const auto value = ReadJson(body, "error"); value.ok()) {
    const json::value* error = Find(*value, "error");
    if (error == nullptr) error = &*value;
    const json::value* message = Find(*error, "message");
    if (message == nullptr) message = Find(*value, "detail");
    if (message != nullptr && message->is_string()) sentence = TextOf(message);
    else if (error->is_string()) sentence = TextOf(error);
  }
  sentence = ValidUtf8(sentence.substr(0, kSentenceBytesMax));
  for (char& c : sentence)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return sentence;
}

Status AddToAnswer(std::string_view text, const Manner& manner, WireAnswer& answer) {
  ASSIGN_OR_RETURN(const json::value value, ReadJson(text, "the server's answer"));
  if (manner.endpoint == Endpoint::kGenerate && value.is_array()) {
    for (uint32_t i = 0; i < value.get_array().size(); ++i)
      RETURN_IF_ERROR(AddGenerated(value.get_array()[i], i, answer));
    return {};
  }
  if (!value.is_object()) return Unexpected("expected a JSON object");
  if (Find(value, "error") != nullptr) return Error{ErrorCode::kInternal, "the server says: " + ErrorSentence(text)};
  if (manner.endpoint == Endpoint::kGenerate) return AddGenerated(value, 0, answer);

  if (const json::value* choices = Find(value, "choices")) {
    if (!choices->is_array()) return Unexpected("expected choices");
    for (const json::value& choice : choices->get_array()) RETURN_IF_ERROR(AddChoice(choice, manner.endpoint, answer));
  }
  if (const std::string fingerprint = TextOf(Find(value, "system_fingerprint")); !fingerprint.empty())
    answer.fingerprint = fingerprint;
  if (const json::value* made = Find(value, "reproducibility"))
    answer.maker = "numeric " + TextOf(Find(*made, "numeric_sha256")).substr(0, kDigestShown) + ", deployment " +
                   TextOf(Find(*made, "deployment_sha256")).substr(0, kDigestShown);
  if (const json::value* usage = Find(value, "usage")) {
    answer.prompt_tokens = CountOf(Find(*usage, "prompt_tokens"));
    answer.completion_tokens = CountOf(Find(*usage, "completion_tokens"));
    if (const json::value* details = Find(*usage, "prompt_tokens_details"))
      answer.cached_tokens = CountOf(Find(*details, "cached_tokens"));
  }
  if (const json::value* timings = Find(value, "timings"); timings != nullptr && !answer.cached_tokens)
    answer.cached_tokens = CountOf(Find(*timings, "cache_n"));  // llama.cpp
  return {};
}

Status WireStream::Take(const http::SseEvent& event) {
  if (event.data == "[DONE]") {
    done_ = true;
    return {};
  }
  if (done_) return Unexpected("something came behind [DONE]");
  return AddToAnswer(event.data, manner_, answer_);
}

Result<WireAnswer> WireStream::Finish() {
  if (!done_) return Error{ErrorCode::kMalformed, "the stream ended without [DONE]: it was cut"};
  for (const auto& [index, choice] : answer_.choices)
    if (choice.finish_reason.empty())
      return Error{ErrorCode::kMalformed, "the stream ended without a finish reason of choice " + std::to_string(index)};
  return std::move(answer_);
}

}  // namespace samebit::verify
