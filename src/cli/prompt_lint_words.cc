// Rules about the words and the code of one text.
#include <algorithm>

#include "cli/prompt_fields.h"
#include "cli/prompt_lint.h"
#include "cli/prompt_words.h"

namespace samebit::cli {
namespace {

constexpr const char* kClockNames[] = {"strftime_now", "now", "utcnow", "today", "date", "time", "datetime", "timestamp"};
constexpr const char* kRandomNames[] = {"random", "shuffle", "sample", "choice", "randrange", "uuid", "uuid4", "lipsum"};

constexpr const char* kClockPhrases[] = {
    "today",      "today's",    "tomorrow",   "yesterday", "current date", "current time", "current day",
    "current year", "current month", "this year", "this month", "this week", "right now", "as of now",
    "at the moment", "the latest", "up to date", "currently"};
constexpr const char* kRandomPhrases[] = {"randomly", "at random", "random order", "in any order", "shuffle",
                                          "pick any", "whichever you like", "surprise me"};

struct Pattern {
  const char* code;
  const char* rule;
  const char* why;
  const char* fix;
};
constexpr const char* kOrderWhy = "it goes over a map, whose order is the interpreter's and no part of the prompt";
constexpr const char* kOrderFix = "write the entries one by one, or sort them with `|dictsort`";
constexpr const char* kElsewhereWhy = "it takes text from another template, which this version does not hold";
constexpr const char* kElsewhereFix = "copy the text into this file";
constexpr Pattern kPatterns[] = {
    {".items()", "unordered-map", kOrderWhy, kOrderFix},   {".keys()", "unordered-map", kOrderWhy, kOrderFix},
    {".values()", "unordered-map", kOrderWhy, kOrderFix},  {"|items", "unordered-map", kOrderWhy, kOrderFix},
    {"{%include", "unpinned-version", kElsewhereWhy, kElsewhereFix},
    {"{%extends", "unpinned-version", kElsewhereWhy, kElsewhereFix},
    {"{%import", "unpinned-version", kElsewhereWhy, kElsewhereFix},
    {"{%from", "unpinned-version", kElsewhereWhy, kElsewhereFix}};

template <class List>
bool Holds(const List& list, const std::string& name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// The tags of a text, "{{ … }}" and "{% … %}", each with the place where it begins.
std::vector<std::pair<size_t, std::string>> TagsOf(const std::string& text) {
  std::vector<std::pair<size_t, std::string>> tags;
  for (size_t at = text.find('{'); at != std::string::npos && at + 1 < text.size(); at = text.find('{', at + 1)) {
    if (text[at + 1] != '{' && text[at + 1] != '%') continue;
    const std::string end = text[at + 1] == '{' ? "}}" : "%}";
    const size_t last = text.find(end, at + 2);
    if (last == std::string::npos) break;
    tags.emplace_back(at, text.substr(at, last + 2 - at));
    at = last;
  }
  return tags;
}

std::string WithoutSpaces(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\n' && c != '-') out += c;
  return out;
}

// The names behind a '|' of a tag.
std::vector<std::string> FiltersOf(const std::string& tag) {
  std::vector<std::string> names;
  const std::string bare = WithoutSpaces(tag);
  for (size_t at = bare.find('|'); at != std::string::npos; at = bare.find('|', at + 1)) {
    size_t end = at + 1;
    while (end < bare.size() && ((bare[end] >= 'a' && bare[end] <= 'z') || bare[end] == '_')) ++end;
    names.push_back(bare.substr(at + 1, end - at - 1));
  }
  return names;
}

// A code point that nobody sees: they come with text that was copied, and two prompts that look the same are not.
std::string InvisibleIn(const std::string& line) {
  static constexpr std::pair<const char*, const char*> kInvisible[] = {
      {"\xC2\xA0", "U+00A0 no-break space"},     {"\xC2\xAD", "U+00AD soft hyphen"},
      {"\xE2\x80\x8B", "U+200B zero width space"}, {"\xE2\x80\x8C", "U+200C zero width non-joiner"},
      {"\xE2\x80\x8D", "U+200D zero width joiner"}, {"\xE2\x80\x8E", "U+200E left-to-right mark"},
      {"\xE2\x80\x8F", "U+200F right-to-left mark"}, {"\xE2\x80\xAE", "U+202E right-to-left override"},
      {"\xE2\x81\xA0", "U+2060 word joiner"},      {"\xEF\xBB\xBF", "U+FEFF byte order mark"},
      {"\t", "a tab"}, {"\r", "a carriage return"}};
  for (const auto& [bytes, name] : kInvisible)
    if (line.find(bytes) != std::string::npos) return name;
  return "";
}

}  // namespace

std::string UndefinedRule(const std::string& name) {
  if (Holds(kClockNames, name)) return "clock";
  return Holds(kRandomNames, name) ? "random" : "undefined-variable";
}

void LintCode(const PromptFile& file, const PromptText& text, std::vector<PromptFinding>& out) {
  if (!text.is_template) return;
  for (const auto& [at, tag] : TagsOf(text.text)) {
    const auto add = [&](const std::string& rule, const std::string& why, const std::string& fix) {
      out.push_back({file.path, file.LineOf(*text.node, tag.substr(0, tag.find('\n'))), rule, why, fix});
    };
    for (const Pattern& pattern : kPatterns)
      if (WithoutSpaces(tag).find(pattern.code) != std::string::npos) add(pattern.rule, pattern.why, pattern.fix);
    for (const std::string& filter : FiltersOf(tag)) {
      if (Holds(kRandomNames, filter))
        add("random", "the filter `" + filter + "` draws lots: the prompt differs from one time to the next",
            "choose here, or make it a variable");
      if (Holds(kClockNames, filter))
        add("clock", "the filter `" + filter + "` reads or writes a date by rules of the machine", "make the date a variable");
    }
  }
}

void LintWords(const PromptFile& file, const PromptText& text, std::vector<PromptFinding>& out) {
  const std::string lower = LowerCase(text.text);
  const auto phrases = [&](const auto& list, const char* rule, const std::string& why, const char* fix) {
    for (const char* phrase : list) {
      const size_t at = FindPhrase(lower, phrase);
      if (at == std::string::npos) continue;
      out.push_back({file.path, file.LineOf(*text.node, LineAround(text.text, at)), rule,
                     "“" + std::string(phrase) + "”: " + why, fix});
    }
  };
  if (text.is_instruction) {
    phrases(kClockPhrases, "clock-words", "the model has no clock; what it takes this for moves with its training and the day",
            "give the date as a variable, or say which one is meant");
    phrases(kRandomPhrases, "random", "it asks for an answer that no rule decides", "say which one, or in which order");
  }
  size_t begin = 0;
  while (begin <= text.text.size()) {
    const size_t end = std::min(text.text.find('\n', begin), text.text.size());
    const std::string line = text.text.substr(begin, end - begin);
    if (line.ends_with(' ') || line.ends_with('\t'))
      out.push_back({file.path, file.LineOf(*text.node, line), "trailing-whitespace",
                     "spaces at the end of a line are tokens that nobody sees, and editors remove them", "remove them"});
    const std::string invisible = InvisibleIn(line);
    if (!invisible.empty())
      out.push_back({file.path, file.LineOf(*text.node, line), "invisible-character",
                     invisible + " in the text: two prompts that look the same are not", "write an ordinary space, or nothing"});
    begin = end + 1;
  }
  if (text.text.ends_with('\n'))
    out.push_back({file.path, text.node->line, "trailing-whitespace",
                   "empty lines at the end of a text are tokens that nobody sees", "end the text with its last line"});
  for (const char* mark : {"<|", "[INST]", "<start_of_turn>", "<<SYS>>", "<s>"}) {
    const size_t at = text.text.find(mark);
    if (at == std::string::npos) continue;
    out.push_back({file.path, file.LineOf(*text.node, LineAround(text.text, at)), "control-token",
                   "“" + std::string(mark) + "” looks like a control token; inside a message it stays text",
                   "take it out: the model's chat template marks the turns"});
  }
}

}  // namespace samebit::cli
