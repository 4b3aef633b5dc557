// Which template of a file or folder a command means, and the values that it is given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/prompt_template.h"
#include "base/result.h"

namespace samebit::cli {

struct LoadedPrompt {
  std::string path;
  PromptTemplate prompt;
  std::string sha256;  // hex
};

// Every template of the files and folders, in order. Failures: those of PromptFilesAt and LoadPromptTemplate;
// kInvalidArgument (one name and version stands in two files).
Result<std::vector<LoadedPrompt>> LoadPrompts(const std::vector<std::string>& paths);

// wanted: "name" or "name@version"; absent: the only one. Failure: kInvalidArgument.
Result<LoadedPrompt> ChoosePrompt(std::vector<LoadedPrompt> prompts, const std::optional<std::string>& wanted);

// settings: "name=value", read by the variable's type. values_path: a JSON object in a file. Failures: kInvalidArgument,
// kMalformed, those of reading.
Result<PromptValues> ReadPromptValues(const PromptTemplate& prompt, const std::vector<std::string>& settings,
                                      const std::optional<std::string>& values_path);

}  // namespace samebit::cli
