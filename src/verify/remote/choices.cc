#include "verify/remote/choices.h"

#include <cstring>

#include "base/digest.h"

namespace samebit::verify {
namespace {

void AddBits(Sha256& digest, double value) {
  uint8_t bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  digest.Update(bytes, sizeof bytes);
}

}  // namespace

const char* IdentityName(Identity identity) {
  switch (identity) {
    case Identity::kTokenIds: return "token_ids";
    case Identity::kTokenBytes: return "token_bytes";
    case Identity::kText: return "text";
  }
  return "";
}

Identity IdentityOf(const WireAnswer& answer) {
  bool ids = !answer.choices.empty(), bytes = ids;
  for (const auto& [index, choice] : answer.choices) {
    ids = ids && (!choice.ids.empty() || (!choice.tokens.empty() && choice.tokens.front().token.id));
    bytes = bytes && !choice.tokens.empty();
  }
  return ids ? Identity::kTokenIds : bytes ? Identity::kTokenBytes : Identity::kText;
}

TokenId ChoiceMaker::NumberOf(const WireCandidate& candidate) {
  if (identity_ == Identity::kTokenIds && candidate.id) return *candidate.id;
  return numbers_.emplace(candidate.bytes, static_cast<TokenId>(numbers_.size())).first->second;
}

engine::TokenRecord ChoiceMaker::RecordOf(const WireToken& token) {
  engine::TokenRecord record;
  record.id = NumberOf(token.token);
  record.logprob = static_cast<float>(token.token.logprob);
  Sha256 digest;
  for (const WireCandidate& candidate : token.top) {
    const TokenId id = NumberOf(candidate);
    record.top.push_back({id, static_cast<float>(candidate.logprob)});
    digest.Update(&id, sizeof id);
    AddBits(digest, candidate.logprob);
  }
  record.logits_digest = digest.Finish();
  if (token.top.size() > 1) record.margin = static_cast<float>(token.top[0].logprob - token.top[1].logprob);
  return record;
}

Result<engine::Choice> ChoiceMaker::MakeChoice(const WireChoice& from) {
  engine::Choice choice;
  choice.text = from.text;
  choice.finish_reason = from.finish_reason == "length" ? engine::FinishReason::kLength : engine::FinishReason::kStop;
  if (identity_ == Identity::kText) {
    for (const char byte : from.text) {
      choice.tokens.emplace_back();
      choice.tokens.back().id = static_cast<uint8_t>(byte);
    }
    return choice;
  }
  for (const WireToken& token : from.tokens) choice.tokens.push_back(RecordOf(token));
  const bool has_own_ids = from.tokens.empty() || from.tokens.front().token.id.has_value();
  if (identity_ == Identity::kTokenIds && from.ids.empty() && !has_own_ids)
    return Error{ErrorCode::kMalformed, "this answer tells no token ids, others did"};
  if (identity_ == Identity::kTokenIds && !from.ids.empty()) {
    choice.tokens.resize(from.ids.size());  // a token that ended the answer may have no log-probability
    for (size_t i = 0; i < from.ids.size(); ++i) choice.tokens[i].id = from.ids[i];
  }
  if (choice.tokens.empty() && !from.text.empty())
    return Error{ErrorCode::kMalformed, "this answer tells nothing of its tokens, others did"};
  return choice;
}

Result<engine::Completion> ChoiceMaker::Make(const WireAnswer& answer, const WireRequest& request) {
  engine::Completion completion;
  completion.prompt_tokens = answer.prompt_tokens.value_or(0);
  completion.trace.cached_prompt_tokens = answer.cached_tokens.value_or(0);
  uint64_t tokens = 0;
  bool all_by_length = true;
  for (const auto& [index, from] : answer.choices) {
    ASSIGN_OR_RETURN(engine::Choice choice, MakeChoice(from));
    choice.sample_index = index;
    tokens += identity_ == Identity::kText ? 0 : choice.tokens.size();
    all_by_length = all_by_length && choice.finish_reason == engine::FinishReason::kLength;
    completion.choices.push_back(std::move(choice));
  }
  if (identity_ == Identity::kText) tokens = answer.completion_tokens.value_or(0);
  const uint64_t expected = uint64_t{request.tokens_max} * request.samples;
  const bool is_told = identity_ != Identity::kText || answer.completion_tokens.has_value();
  if (all_by_length && is_told && tokens < expected)
    return Error{ErrorCode::kMalformed, "the answer ended by its length after " + std::to_string(tokens) + " of " +
                                            std::to_string(expected) + " tokens: it was cut"};
  return completion;
}

}  // namespace samebit::verify
