#include "server/prompt_templates.h"

#include <algorithm>

#include "base/limits.h"
#include "contract/prompt_template_digest.h"

namespace samebit::server {
namespace {

using openai::ApiError;

constexpr size_t kListedMax = 20;

std::string Tag(const PromptTemplate& prompt) { return prompt.name + "@" + prompt.version; }

// The next number of a version as text without leading zeros; moves `at` behind its dot.
std::string NextNumber(const std::string& version, size_t& at) {
  const size_t end = std::min(version.find('.', at), version.size());
  std::string number = version.substr(at, end - at);
  at = end + 1;
  number.erase(0, std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

ApiError NotFound(const PromptTemplates& templates, const openai::PromptTemplateRequest& request) {
  const bool is_known = templates.Find(request.name, std::nullopt) != nullptr;
  const std::string param = is_known ? "prompt_template.version" : "prompt_template.name";
  const std::string wanted = request.name + (request.version ? "@" + *request.version : "");
  return openai::InvalidValue(param, param + ": there is no " + openai::Quoted(wanted) + " here; there is " +
                                         templates.List(), "prompt_template_not_found");
}

ApiError Misfit(const text::PromptProblem& problem) {
  const std::string name = problem.variable.substr(0, limits::kPromptNameBytesMax);
  const std::string param = name.empty() ? "prompt_template" : "prompt_template.variables." + name;
  return openai::InvalidValue(param, param + ": " + problem.error.message,
                              problem.error.code == ErrorCode::kTooLarge ? "too_large" : "invalid_value");
}

}  // namespace

int CompareVersions(const std::string& a, const std::string& b) {
  size_t at_a = 0, at_b = 0;
  while (at_a < a.size() && at_b < b.size()) {
    const std::string x = NextNumber(a, at_a), y = NextNumber(b, at_b);
    if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
    if (x != y) return x < y ? -1 : 1;
  }
  if (at_a < a.size()) return 1;
  return at_b < b.size() ? -1 : 0;
}

Status PromptTemplates::Add(PromptTemplate prompt) {
  const auto place = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    const PromptTemplate& there = entry.renderer->prompt();
    return there.name > prompt.name ||
           (there.name == prompt.name && CompareVersions(there.version, prompt.version) >= 0);
  });
  if (place != entries_.end() && place->renderer->prompt().name == prompt.name &&
      CompareVersions(place->renderer->prompt().version, prompt.version) == 0)
    return Error{ErrorCode::kInvalidArgument, Tag(prompt) + " is there already"};
  Entry entry;
  entry.sha256 = contract::PromptTemplateSha256(prompt);
  ASSIGN_OR_RETURN(entry.renderer, text::PromptRenderer::Make(std::move(prompt)));
  entries_.insert(place, std::move(entry));
  return {};
}

const PromptTemplates::Entry* PromptTemplates::Find(const std::string& name,
                                                    const std::optional<std::string>& version) const {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    const PromptTemplate& prompt = entry.renderer->prompt();
    if (prompt.name == name && (!version || prompt.version == *version)) found = &entry;  // the last is the newest
  }
  return found;
}

std::string PromptTemplates::List() const {
  std::string list;
  for (size_t i = 0; i < std::min(entries_.size(), kListedMax); ++i)
    list += (list.empty() ? "" : ", ") + Tag(entries_[i].renderer->prompt());
  if (entries_.size() > kListedMax) list += " and " + std::to_string(entries_.size() - kListedMax) + " more";
  return list.empty() ? "none" : list;
}

std::variant<RenderedPrompt, ApiError> RenderPrompt(const PromptTemplates* templates,
                                                    const openai::PromptTemplateRequest& request, contract::Tier tier) {
  if (templates == nullptr || templates->size() == 0)
    return openai::Unsupported("prompt_template", "prompt_template: this server was started without --prompts");
  if (!request.version && tier != contract::Tier::kStatistical) {
    return openai::Refuse(contract::Refusal::kForbiddenFeature, "prompt_template.version",
                          "prompt_template.version: at tier 1 and 2 a template needs its version, because what is the "
                          "newest one changes unseen");
  }
  const PromptTemplates::Entry* entry = templates->Find(request.name, request.version);
  if (entry == nullptr) return NotFound(*templates, request);
  auto rendered = entry->renderer->Render(request.variables);
  if (const auto* problem = std::get_if<text::PromptProblem>(&rendered)) return Misfit(*problem);
  RenderedPrompt prompt;
  for (text::ChatMessage& message : std::get<0>(rendered))
    prompt.messages.push_back({std::move(message.role), std::move(message.content), "", false});
  prompt.name = entry->renderer->prompt().name;
  prompt.version = entry->renderer->prompt().version;
  prompt.sha256 = entry->sha256;
  return prompt;
}

}  // namespace samebit::server
