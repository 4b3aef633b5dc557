// samebit prompt: lists, shows, renders, hashes and examines prompt templates, without a model.
#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/prompt_choice.h"
#include "cli/prompt_lint.h"
#include "contract/prompt_template_digest.h"
#include "text/prompt_template.h"

namespace samebit::cli {
namespace {

constexpr const char* kExamples = R"(Actions:
  list     name, version, description and file of each template
  show     one template: its variables and the document that is hashed
  render   the messages that a request would become, as JSON
  hash     SHA-256, name and version of each: prompt_template_sha256 of a fingerprint
  lint     what makes a prompt unstable; exit 0 clean, 1 findings, 2 bad input

Examples:
  samebit prompt list prompts/
  samebit prompt render prompts/ --template sort-ticket@2 --set ticket='I paid twice.'
  samebit prompt lint prompts/ --json)";

class PromptCommand final : public Command {
 public:
  std::string name() const override { return "prompt"; }
  std::string summary() const override { return "lists, renders, hashes and examines prompt templates"; }
  std::string examples() const override { return kExamples; }

  std::vector<Flag> flags() override {
    return {Required(Text("ACTION", "", &action_, "list, show, render, hash or lint")),
            Required(TextList("PATH", "", &paths_, "files of prompt templates, or folders with .yaml files")),
            Text("--template", "NAME[@VERSION]", &wanted_, "show, render: which one, where there are several"),
            TextList("--set", "NAME=VALUE", &settings_, "render: the value of a variable"),
            Text("--values", "FILE.json", &values_path_, "render: values as one JSON object"),
            Switch("--json", &json_, true, "list, show, hash, lint: for programs")};
  }

  Result<ExitCode> Run(const Outside&) override {
    if (*action_ == "lint") return Lint();
    ASSIGN_OR_RETURN(std::vector<LoadedPrompt> prompts, LoadPrompts(paths_));
    if (*action_ == "list" || *action_ == "hash") return List(prompts);
    if (*action_ != "show" && *action_ != "render") {
      return Error{ErrorCode::kInvalidArgument, "expected list, show, render, hash or lint, found '" +
                                                    action_->substr(0, 64) + "'; see `samebit prompt --help`"};
    }
    ASSIGN_OR_RETURN(LoadedPrompt loaded, ChoosePrompt(std::move(prompts), wanted_));
    return *action_ == "show" ? Show(loaded) : Render(std::move(loaded));
  }

 private:
  static ExitCode Out(const std::string& text) {
    WriteOut(text + "\n");
    return ExitCode::kHolds;
  }

  Result<ExitCode> List(const std::vector<LoadedPrompt>& prompts) const {
    JsonWriter json(JsonWriter::Layout::kIndented);
    std::string lines;
    json.BeginArray();
    for (const auto& [path, prompt, sha256] : prompts) {
      json.BeginObject().Key("name").Text(prompt.name).Key("version").Text(prompt.version).Key("sha256").Text(sha256);
      json.Key("description").Text(prompt.description).Key("file").Text(path).EndObject();
      if (*action_ == "hash")
        lines += sha256 + "  " + prompt.name + "@" + prompt.version + "\n";
      else
        lines += prompt.name + "@" + prompt.version + "  " + prompt.description + "  (" + path + ")\n";
    }
    json.EndArray();
    if (json_) return Out(json.Finish());
    WriteOut(lines);
    return ExitCode::kHolds;
  }

  Result<ExitCode> Show(const LoadedPrompt& loaded) const {
    const PromptTemplate& prompt = loaded.prompt;
    const std::string document = contract::PromptTemplateJson(prompt);
    if (json_) {
      JsonWriter json(JsonWriter::Layout::kIndented);
      json.BeginObject().Key("name").Text(prompt.name).Key("version").Text(prompt.version);
      json.Key("sha256").Text(loaded.sha256).Key("file").Text(loaded.path).Key("document").Verbatim(document);
      return Out(json.EndObject().Finish());
    }
    std::string text = prompt.name + "@" + prompt.version + "\n" + prompt.description + "\n\nfile      " + loaded.path +
                       "\nsha256    " + loaded.sha256 + "\nexamples  " + std::to_string(prompt.examples.size()) + ", and " +
                       std::to_string(prompt.negative_examples.size()) + " of wrong answers\noutput    " +
                       (prompt.output ? contract::PromptFormatName(prompt.output->format) : "not declared") + "\n";
    for (const PromptVariable& variable : prompt.variables)
      text += "variable  " + variable.name + ": " + contract::PromptVariableTypeName(variable.type) +
              (variable.required ? "" : ", with a default") +
              (variable.description.empty() ? "" : "; " + variable.description) + "\n";
    return Out(text + "\n" + document);
  }

  Result<ExitCode> Render(LoadedPrompt loaded) const {
    ASSIGN_OR_RETURN(const PromptValues values, ReadPromptValues(loaded.prompt, settings_, values_path_));
    ASSIGN_OR_RETURN(const auto renderer, text::PromptRenderer::Make(std::move(loaded.prompt)));
    auto rendered = renderer->Render(values);
    if (const auto* problem = std::get_if<text::PromptProblem>(&rendered)) {
      const std::string place = problem->variable.empty() ? "" : problem->variable.substr(0, 64) + ": ";
      return Error{problem->error.code, place + problem->error.message};
    }
    JsonWriter json(JsonWriter::Layout::kIndented);
    json.BeginArray();
    for (const text::ChatMessage& message : std::get<0>(rendered))
      json.BeginObject().Key("role").Text(message.role).Key("content").Text(message.content).EndObject();
    return Out(json.EndArray().Finish());
  }

  // A file that cannot be read at all is said last, so that what was found in the others is not lost.
  Result<ExitCode> Lint() const {
    std::vector<PromptFinding> findings;
    std::optional<Error> unreadable;
    size_t file_count = 0;
    for (const std::string& path : paths_) {
      ASSIGN_OR_RETURN(const std::vector<std::string> files, PromptFilesAt(path));
      for (const std::string& one : files) {
        const Result<PromptFile> file = ReadPromptFile(one);
        ++file_count;
        if (!file.ok()) {
          unreadable = unreadable.value_or(file.error());
          continue;
        }
        for (PromptFinding& finding : LintPrompt(*file)) findings.push_back(std::move(finding));
      }
    }
    if (!unreadable || (!findings.empty() && !json_)) Tell(findings, file_count);
    if (unreadable) return *unreadable;
    return findings.empty() ? ExitCode::kHolds : ExitCode::kDoesNotHold;
  }

  void Tell(const std::vector<PromptFinding>& findings, size_t file_count) const {
    if (json_) {
      JsonWriter json(JsonWriter::Layout::kIndented);
      json.BeginObject().Key("files").Number(file_count).Key("findings").BeginArray();
      for (const PromptFinding& one : findings) {
        json.BeginObject().Key("file").Text(one.file).Key("line").Number(one.line).Key("rule").Text(one.rule);
        json.Key("why").Text(one.why).Key("fix").Text(one.fix).EndObject();
      }
      Out(json.EndArray().EndObject().Finish());
      return;
    }
    std::string text;
    for (const PromptFinding& one : findings)
      text += one.file + ":" + std::to_string(one.line) + ": " + one.rule + ": " + one.why + "\n    " + one.fix + "\n";
    const std::string files = std::to_string(file_count) + (file_count == 1 ? " file" : " files");
    Out(text + (findings.empty() ? "nothing found in " : std::to_string(findings.size()) + " found in ") + files);
  }

  std::optional<std::string> action_, wanted_, values_path_;
  std::vector<std::string> paths_, settings_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakePromptCommand() { return std::make_unique<PromptCommand>(); }

}  // namespace samebit::cli
