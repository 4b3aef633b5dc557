// The prompt templates that a server offers, and what a request for one becomes. Immutable after it is made; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "contract/tier.h"
#include "openai/api_error.h"
#include "openai/chat_request.h"
#include "openai/prompt_template_request.h"
#include "text/prompt_template.h"

namespace samebit::server {

class PromptTemplates {
 public:
  // Failures: those of PromptRenderer::Make; kInvalidArgument (a name and version that is there already).
  Status Add(PromptTemplate prompt);
  size_t size() const { return entries_.size(); }

  struct Entry {
    std::unique_ptr<text::PromptRenderer> renderer;
    std::string sha256;  // hex
  };
  // version absent: the newest. nullptr: there is none.
  const Entry* Find(const std::string& name, const std::optional<std::string>& version) const;
  // "a@1, a@2, b@1", for messages; cut where it is long.
  std::string List() const;

 private:
  std::vector<Entry> entries_;  // by name, then version
};

struct RenderedPrompt {
  std::vector<openai::ChatMessage> messages;
  std::string name, version, sha256;
};

// templates: nullptr where the server has none. At tier 1 and 2 a request without a version is refused: what "the newest"
// is changes unseen.
std::variant<RenderedPrompt, openai::ApiError> RenderPrompt(const PromptTemplates* templates,
                                                            const openai::PromptTemplateRequest& request,
                                                            contract::Tier tier);

// -1, 0, 1: numbers with dots between, compared number by number; "1" and "1.0" are two versions, "1" the older.
int CompareVersions(const std::string& a, const std::string& b);

}  // namespace samebit::server
