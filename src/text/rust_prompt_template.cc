// PromptRenderer by the interpreter of the Rust crate, within the bounds of base/limits.h.
#include <algorithm>

#include "base/limits.h"
#include "text/prompt_template.h"
#include "text/rust_boundary.h"

namespace samebit::text {
namespace {

// Of the interpreter's functions those that depend on nothing: the others read a clock, print for people or stop a chat.
constexpr std::string_view kFunctions[] = {"range", "namespace"};

// The interpreter knows one kind of template, and calls it by that name.
Error Named(Error error, const std::string& place) {
  static constexpr std::string_view kItsName = "chat template";
  const size_t at = error.message.find(kItsName);
  if (at != std::string::npos) error.message.replace(at, kItsName.size(), place);
  return error;
}

class Text {
 public:
  static Result<Text> Make(const std::string& source) {
    if (source.size() > limits::kTemplateBytesMax)
      return Error{ErrorCode::kTooLarge, "it has " + std::to_string(source.size()) + " bytes, at most " +
                                             std::to_string(limits::kTemplateBytesMax) + " are taken"};
    SamebitTemplate* made = nullptr;
    SamebitString message{};
    const auto code = samebit_prompt_make(Slice(source), &made, &message);
    if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
    return Text(made);
  }

  Result<std::vector<std::string>> Names() const {
    SamebitString lines{};
    SamebitString message{};
    const auto code = samebit_prompt_names(handle_.get(), &lines, &message);
    if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
    std::vector<std::string> names;
    std::string line;
    for (const char c : TakeString(lines) + "\n") {
      if (c != '\n') {
        line += c;
        continue;
      }
      const bool is_function = std::find(std::begin(kFunctions), std::end(kFunctions), line) != std::end(kFunctions);
      if (!line.empty() && !is_function) names.push_back(line);
      line.clear();
    }
    return names;
  }

  Result<std::string> Render(const PromptValues& values) const {
    std::vector<SamebitVariable> variables;
    uint64_t bytes = 0;
    for (const auto& [name, value] : values) {
      SamebitVariable variable{.name = Slice(name), .kind = 0, .text = Slice(""), .whole = 0, .number = 0};
      if (const auto* text = std::get_if<std::string>(&value)) {
        variable.text = Slice(*text);
        bytes += text->size();
      } else if (const auto* whole = std::get_if<int64_t>(&value)) {
        variable.kind = 1;
        variable.whole = *whole;
      } else if (const auto* number = std::get_if<double>(&value)) {
        variable.kind = 2;
        variable.number = *number;
      } else {
        variable.kind = 3;
        variable.whole = std::get<bool>(value) ? 1 : 0;
      }
      variables.push_back(variable);
    }
    if (bytes > limits::kPromptBytesMax)
      return Error{ErrorCode::kTooLarge, "the values have " + std::to_string(bytes) + " bytes, at most " +
                                             std::to_string(limits::kPromptBytesMax) + " are taken"};
    const uint64_t fuel = limits::kTemplateFuel + bytes / limits::kTemplateBytesPerFuel;
    SamebitRender bounds{};
    bounds.fuel = fuel;
    bounds.output_bytes_max = limits::kTemplateOutputBytesMax;
    bounds.memory_bytes_max = limits::kTemplateMemoryBytes + fuel * limits::kTemplateMemoryBytesPerFuel;
    bounds.allocations_max = limits::kTemplateAllocations + fuel * limits::kTemplateAllocationsPerFuel;
    bounds.seconds_max = limits::kTemplateSecondsMax;
    SamebitString output{};
    SamebitString message{};
    const auto code =
        samebit_prompt_render(handle_.get(), variables.data(), variables.size(), &bounds, &output, &message);
    if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
    return TakeString(output);
  }

 private:
  struct Free {
    void operator()(SamebitTemplate* text) const { samebit_template_free(text); }
  };
  explicit Text(SamebitTemplate* handle) : handle_(handle) {}
  std::unique_ptr<SamebitTemplate, Free> handle_;
};

void AddParagraph(std::string& text, const std::string& paragraph) {
  if (paragraph.empty()) return;
  text += (text.empty() ? "" : "\n\n") + paragraph;
}

// Wrong answers are told about, not shown as turns: a turn would teach them.
std::string WrongAnswers(const std::vector<PromptExample>& examples) {
  if (examples.empty()) return "";
  std::string text = "These answers would be wrong:";
  for (const PromptExample& example : examples) {
    text += "\n\nQuestion: " + example.user + "\nWrong answer: " + example.assistant;
    if (!example.why.empty()) text += "\nWhy: " + example.why;
  }
  return text;
}

}  // namespace

struct PromptRenderer::Texts {
  Text system, user;
};

PromptRenderer::PromptRenderer(PromptTemplate prompt, std::unique_ptr<Texts> texts)
    : prompt_(std::move(prompt)), texts_(std::move(texts)) {}

PromptRenderer::~PromptRenderer() = default;

Result<std::vector<std::string>> NamesAskedFor(const std::string& source) {
  ASSIGN_OR_RETURN(const Text text, Text::Make(source));
  return text.Names();
}

Result<std::unique_ptr<PromptRenderer>> PromptRenderer::Make(PromptTemplate prompt) {
  const auto make = [&](const std::string& source, const std::string& place,
                        std::vector<std::string>& used) -> Result<Text> {
    Result<Text> text = Text::Make(source);
    if (!text.ok()) return Named(text.error(), place);
    ASSIGN_OR_RETURN(const std::vector<std::string> names, text->Names());
    for (const std::string& name : names) {
      const bool is_known = std::any_of(prompt.variables.begin(), prompt.variables.end(),
                                        [&](const PromptVariable& variable) { return variable.name == name; });
      if (!is_known)
        return Error{ErrorCode::kMalformed, place + ": it asks for '" + name.substr(0, 64) +
                                                "', which is no variable of the template"};
      used.push_back(name);
    }
    return text;
  };
  std::vector<std::string> used;
  ASSIGN_OR_RETURN(Text system, make(prompt.system, "system", used));
  ASSIGN_OR_RETURN(Text user, make(prompt.user, "user", used));
  std::unique_ptr<Texts> texts(new Texts{std::move(system), std::move(user)});
  std::unique_ptr<PromptRenderer> renderer(new PromptRenderer(std::move(prompt), std::move(texts)));
  for (const PromptVariable& variable : renderer->prompt_.variables) {
    if (std::find(used.begin(), used.end(), variable.name) == used.end()) renderer->unused_.push_back(variable.name);
  }
  return renderer;
}

std::variant<std::vector<ChatMessage>, PromptProblem> PromptRenderer::Render(const PromptValues& given) const {
  auto filled = FillVariables(prompt_.variables, given);
  if (auto* problem = std::get_if<PromptProblem>(&filled)) return std::move(*problem);
  const PromptValues& values = std::get<PromptValues>(filled);
  const Result<std::string> system = texts_->system.Render(values);
  if (!system.ok()) return PromptProblem{"", Named(system.error(), "system")};
  const Result<std::string> user = texts_->user.Render(values);
  if (!user.ok()) return PromptProblem{"", Named(user.error(), "user")};

  std::string instructions;
  AddParagraph(instructions, *system);
  if (prompt_.output) AddParagraph(instructions, prompt_.output->instruction);
  AddParagraph(instructions, WrongAnswers(prompt_.negative_examples));
  std::vector<ChatMessage> messages;
  if (!instructions.empty()) messages.push_back({"system", std::move(instructions)});
  for (const PromptExample& example : prompt_.examples) {
    messages.push_back({"user", example.user});
    messages.push_back({"assistant", example.assistant});
  }
  messages.push_back({"user", *user});
  return messages;
}

}  // namespace samebit::text
