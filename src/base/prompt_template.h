// A prompt template as plain data: named, versioned, with typed variables. Read from files by cli/, named by its digest in
// contract/, made into messages by text/. Owned by value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace samebit {

using PromptValue = std::variant<std::string, int64_t, double, bool>;
// By name; a name stands once.
using PromptValues = std::vector<std::pair<std::string, PromptValue>>;

enum class PromptVariableType { kString, kInteger, kNumber, kBoolean, kEnum };

struct PromptVariable {
  std::string name;
  std::string description;
  PromptVariableType type = PromptVariableType::kString;
  bool required = true;
  std::optional<PromptValue> default_value;  // of its type; present exactly where it is not required
  uint32_t length_max = 0;                   // kString: characters
  int64_t integer_min = INT64_MIN, integer_max = INT64_MAX;
  double number_min = 0, number_max = 0;  // kNumber: both are always given
  std::vector<std::string> choices;       // kEnum
};

struct PromptExample {
  std::string user, assistant;
  std::string why;  // of a negative example: what is wrong with the answer; may be empty
};

enum class PromptFormat { kText, kJson, kChoice, kInteger, kNumber, kLine };

// What an answer must look like.
struct PromptOutput {
  PromptFormat format = PromptFormat::kText;
  std::string instruction;           // told to the model
  std::vector<std::string> keys;     // kJson: of the object
  std::vector<std::string> choices;  // kChoice
};

struct PromptTemplate {
  std::string name;
  std::string version;  // numbers with dots between: "2", "1.4.0"
  std::string description;
  std::string system;  // a text with variables; empty: none
  std::string user;    // a text with variables
  std::vector<PromptExample> examples;           // verbatim
  std::vector<PromptExample> negative_examples;  // verbatim
  std::vector<PromptVariable> variables;         // by name
  std::optional<PromptOutput> output;
};

}  // namespace samebit
