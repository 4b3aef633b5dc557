#include "cli/served_prompts.h"

#include "cli/prompt_choice.h"

namespace samebit::cli {

Result<std::unique_ptr<server::PromptTemplates>> LoadServedPrompts(const std::optional<std::string>& folder) {
  auto prompts = std::make_unique<server::PromptTemplates>();
  if (!folder) return prompts;
  ASSIGN_OR_RETURN(std::vector<LoadedPrompt> loaded, LoadPrompts({*folder}));
  for (LoadedPrompt& one : loaded) RETURN_IF_ERROR(prompts->Add(std::move(one.prompt)));
  return prompts;
}

}  // namespace samebit::cli
