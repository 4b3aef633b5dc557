#include "cli/prompt_words.h"

#include <algorithm>

namespace samebit::cli {
namespace {

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & '\x80') != 0;
}

constexpr std::string_view kNegations[] = {"not", "no", "never", "without", "avoid", "don't", "nor", "neither", "than"};

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

size_t FindPhrase(std::string_view text, std::string_view phrase, size_t from) {
  for (size_t at = text.find(phrase, from); at != std::string_view::npos; at = text.find(phrase, at + 1)) {
    const bool begins = at == 0 || !IsWordByte(text[at - 1]);
    const size_t end = at + phrase.size();
    if (begins && (end == text.size() || !IsWordByte(text[end]))) return at;
  }
  return std::string_view::npos;
}

std::vector<Sentence> SentencesOf(std::string_view text) {
  std::vector<Sentence> sentences;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    const bool is_last = at == text.size();
    const bool is_mark = !is_last && std::string_view(".!?;").find(text[at]) != std::string_view::npos &&
                         (at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\n');
    if (!is_last && !is_mark && text[at] != '\n') continue;
    if (at > begin) sentences.push_back({begin, LowerCase(text.substr(begin, at - begin))});
    begin = at + 1;
  }
  return sentences;
}

bool IsNegated(std::string_view sentence, size_t at) {
  size_t end = at;
  for (int word = 0; word < 3 && end > 0; ++word) {
    while (end > 0 && !IsWordByte(sentence[end - 1]) && sentence[end - 1] != '\'') --end;
    size_t begin = end;
    while (begin > 0 && (IsWordByte(sentence[begin - 1]) || sentence[begin - 1] == '\'')) --begin;
    const std::string_view found = sentence.substr(begin, end - begin);
    if (std::find(std::begin(kNegations), std::end(kNegations), found) != std::end(kNegations)) return true;
    end = begin;
  }
  return false;
}

std::string LineAround(std::string_view text, size_t at) {
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  size_t begin = before == std::string_view::npos ? 0 : before + 1;
  size_t end = std::min(text.find('\n', at), text.size());
  while (begin < end && text[begin] == ' ') ++begin;
  while (end > begin && text[end - 1] == ' ') --end;
  return std::string(text.substr(begin, end - begin));
}

}  // namespace samebit::cli
