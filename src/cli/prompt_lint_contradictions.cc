// Instructions that cannot both be followed: about the language, the format and the length of an answer.
#include <algorithm>
#include <optional>

#include "cli/prompt_lint.h"
#include "cli/prompt_words.h"
#include "contract/prompt_template_digest.h"

namespace samebit::cli {
namespace {

// A sentence with one of these says how to answer.
constexpr const char* kVerbs[] = {"answer", "answers", "reply",  "respond", "response", "return", "output",
                                  "write",  "produce", "speak", "give",    "print"};
constexpr const char* kLanguages[] = {"english", "german",  "french",  "spanish", "italian",    "portuguese", "dutch",
                                      "polish",  "russian", "chinese", "japanese", "korean",    "arabic",     "turkish",
                                      "hindi",   "swedish", "danish",  "norwegian", "finnish",  "greek",      "czech",
                                      "ukrainian", "romanian", "hungarian", "hebrew", "vietnamese", "thai", "indonesian"};

struct Demand {
  const char* phrase;
  const char* what;  // demands of one kind agree
};
constexpr Demand kFormats[] = {{"json", "JSON"},       {"yaml", "YAML"},           {"xml", "XML"},
                               {"csv", "CSV"},         {"html", "HTML"},           {"markdown", "Markdown"},
                               {"bullet points", "Markdown"}, {"bullet list", "Markdown"}, {"a table", "a table"},
                               {"plain text", "plain text"},  {"prose", "plain text"}};
constexpr Demand kLengths[] = {{"one word", "short"},       {"single word", "short"},   {"one sentence", "short"},
                               {"a single sentence", "short"}, {"be brief", "short"},   {"briefly", "short"},
                               {"be concise", "short"},     {"concisely", "short"},     {"a few words", "short"},
                               {"in detail", "long"},       {"detailed", "long"},       {"at length", "long"},
                               {"comprehensive", "long"},   {"step by step", "long"},   {"explain your reasoning", "long"},
                               {"several paragraphs", "long"}};

struct Found {
  std::string what;
  std::string phrase;
  const PromptText* text;
  size_t at;
};

bool SaysHow(const Sentence& sentence) {
  return std::any_of(std::begin(kVerbs), std::end(kVerbs),
                     [&](const char* verb) { return FindPhrase(sentence.text, verb) != std::string::npos; });
}

void FindLanguages(const PromptText& text, const Sentence& sentence, std::vector<Found>& found) {
  for (const char* language : kLanguages) {
    const size_t at = FindPhrase(sentence.text, "in " + std::string(language));
    if (at != std::string::npos && !IsNegated(sentence.text, at))
      found.push_back({language, "in " + std::string(language), &text, sentence.at + at});
  }
}

template <class List>
void FindDemands(const List& list, const PromptText& text, const Sentence& sentence, std::vector<Found>& found) {
  for (const Demand& demand : list) {
    const size_t at = FindPhrase(sentence.text, demand.phrase);
    if (at != std::string::npos && !IsNegated(sentence.text, at))
      found.push_back({demand.what, demand.phrase, &text, sentence.at + at});
  }
}

std::optional<Found> FirstOther(const std::vector<Found>& found, const std::string& what) {
  for (const Found& one : found)
    if (one.what != what) return one;
  return std::nullopt;
}

void Report(const PromptFile& file, const Found& second, const std::string& rule, const std::string& first,
            std::vector<PromptFinding>& out) {
  out.push_back({file.path, file.LineOf(*second.text->node, LineAround(second.text->text, second.at)), rule,
                 "“" + second.phrase + "” contradicts " + first + ": which of them wins is the model's whim",
                 "keep one of them"});
}

void ReportPair(const PromptFile& file, const std::vector<Found>& found, const std::string& rule,
                std::vector<PromptFinding>& out) {
  if (found.empty()) return;
  if (const auto other = FirstOther(found, found.front().what))
    Report(file, *other, rule, "“" + found.front().phrase + "”", out);
}

}  // namespace

void LintContradictions(const PromptFile& file, const std::vector<PromptText>& texts, std::vector<PromptFinding>& out) {
  std::vector<Found> languages, formats, lengths;
  for (const PromptText& text : texts) {
    if (!text.is_instruction) continue;
    for (const Sentence& sentence : SentencesOf(text.text)) {
      FindDemands(kLengths, text, sentence, lengths);
      if (!SaysHow(sentence)) continue;
      FindLanguages(text, sentence, languages);
      FindDemands(kFormats, text, sentence, formats);
    }
  }
  ReportPair(file, languages, "contradictory-language", out);
  ReportPair(file, lengths, "contradictory-length", out);
  if (!file.prompt.output) {
    ReportPair(file, formats, "contradictory-format", out);
    return;
  }
  // The declared format counts as the first demand.
  const PromptFormat declared = file.prompt.output->format;
  const std::string name = std::string("`format: ") + contract::PromptFormatName(declared) + "`";
  if (declared == PromptFormat::kText) {
    ReportPair(file, formats, "contradictory-format", out);
  } else if (const auto other = FirstOther(formats, declared == PromptFormat::kJson ? "JSON" : "plain text")) {
    Report(file, *other, "contradictory-format", name, out);
  }
  const bool is_short = declared == PromptFormat::kChoice || declared == PromptFormat::kInteger ||
                        declared == PromptFormat::kNumber || declared == PromptFormat::kLine;
  const auto is_long = [](const Found& one) { return one.what == "long"; };
  const auto longer = std::find_if(lengths.begin(), lengths.end(), is_long);
  if (is_short && longer != lengths.end() && std::all_of(lengths.begin(), lengths.end(), is_long))
    Report(file, *longer, "contradictory-length", name, out);
}

}  // namespace samebit::cli
