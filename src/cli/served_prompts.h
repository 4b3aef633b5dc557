// The folder of `serve --prompts`, as the server offers it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/prompt_templates.h"

namespace samebit::cli {

// Empty where there is no folder. Failures: those of LoadPrompts: a server with half of its prompts does not start.
Result<std::unique_ptr<server::PromptTemplates>> LoadServedPrompts(const std::optional<std::string>& folder);

}  // namespace samebit::cli
