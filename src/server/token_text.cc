#include "server/token_text.h"

#include <algorithm>

#include "base/valid_utf8.h"

namespace samebit::server {
namespace {

openai::TopEntry ToTop(TokenId id, float logprob, const text::Tokenizer& tokenizer, const TokenTextOptions& options) {
  openai::TopEntry entry;
  entry.bytes = tokenizer.Bytes(id);
  entry.logprob = logprob;
  entry.id = id;
  // A control token has no bytes: it is shown as it is written in the vocabulary.
  entry.token = options.tokens_as_ids ? "token_id:" + std::to_string(id)
                : entry.bytes.empty() ? std::string(tokenizer.Piece(id))
                                      : ValidUtf8(entry.bytes);
  return entry;
}

}  // namespace

openai::TokenEntry ToEntry(const engine::TokenRecord& record, const text::Tokenizer& tokenizer,
                           const TokenTextOptions& options) {
  openai::TokenEntry entry;
  entry.token = ToTop(record.id, record.logprob, tokenizer, options);
  if (options.margins) entry.margin = record.margin;
  const size_t count = std::min<size_t>(options.top_count, record.top.size());
  for (size_t i = 0; i < count; ++i)
    entry.top.push_back(ToTop(record.top[i].id, record.top[i].logprob, tokenizer, options));
  return entry;
}

std::vector<openai::TokenEntry> PromptEntries(const std::vector<TokenId>& prompt,
                                              const std::vector<engine::TokenRecord>& records,
                                              const text::Tokenizer& tokenizer, const TokenTextOptions& options) {
  std::vector<openai::TokenEntry> entries;
  openai::TokenEntry first;
  first.token = ToTop(prompt.front(), 0, tokenizer, options);
  first.has_logprob = false;
  entries.push_back(std::move(first));
  for (const engine::TokenRecord& record : records) entries.push_back(ToEntry(record, tokenizer, options));
  return entries;
}

}  // namespace samebit::server
