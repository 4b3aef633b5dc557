// A parsed request to what the engine runs and what the answer will say about it. Pure but for the seed and the date
// that it is handed; runs on the work thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/effective_sampling.h"
#include "openai/answer.h"
#include "openai/chat_request.h"
#include "openai/completion_request.h"
#include "server/answer_form.h"
#include "server/served_model.h"
#include "server/tool_calls.h"

namespace samebit::server {

// Everything that both kinds of answers need.
struct Prepared {
  openai::Endpoint endpoint = openai::Endpoint::kChat;
  openai::CommonRequest common;
  uint32_t samples = 1;
  bool echo = false;
  bool drops_answer = false;  // max_tokens 0: one token is computed and not given out
  std::vector<engine::Request> requests;  // one per prompt; moved to the engine
  uint32_t attempts_max = 0;  // > 0: the one answer is validated, and made again as long as it is not valid
  std::optional<engine::Request> attempt;  // then: its request, with the seed of the first
  ToolPlan tools;
  AnswerForm form;
  std::vector<std::vector<TokenId>> prompts;
  std::vector<std::string> prompt_texts;  // with echo
  RenderedPrompt prompt_template;         // without its messages; an empty name: none was used
  openai::AnswerHead head;
  openai::Reproducibility reproducibility;
};

struct PrepareInput {
  const ServedModel& model;
  std::function<uint64_t()> fresh_seed;
  int64_t now_unix_seconds = 0;
  std::string answer_id;  // without its prefix
};

std::variant<Prepared, openai::ApiError> PrepareChat(openai::ChatRequest request, const PrepareInput& input);
std::variant<Prepared, openai::ApiError> PrepareCompletion(openai::CompletionRequest request,
                                                           const PrepareInput& input);

// What every endpoint asks first: is it this model, and would what the client pins run? nullopt: yes.
// prompt_template_sha256: of the template in use, or "".
std::optional<openai::ApiError> CheckModel(const ServedModel& model, const std::optional<std::string>& asked);
std::optional<openai::ApiError> CheckPins(const openai::Pins& pins, const ServedModel& model,
                                          const contract::Fingerprint& fingerprint,
                                          const std::string& prompt_template_sha256 = "");

// The ids of a chat, as /tokenize gives them too. tier: at 1 and 2 a template may not print the date of today.
std::variant<std::vector<TokenId>, openai::ApiError> ChatPromptIds(const std::vector<openai::ChatMessage>& messages,
                                                                   const std::string& variables_json,
                                                                   bool add_generation_prompt, contract::Tier tier,
                                                                   const PrepareInput& input,
                                                                   const std::string& tools_json = "");

// The document of a request with these parameters. form_sha256: of the form that its answer must have;
// prompt_template_sha256: of the template that it uses; "" where there is none.
contract::Fingerprint FingerprintOf(const ServedModel& model, const engine::Request& request,
                                    const std::string& form_sha256 = "", const std::string& prompt_template_sha256 = "");

// What a failure of another module is to a client. param: the field that it was about.
openai::ApiError ToApiError(const Error& error, const std::string& param);

// The token ids' text, control tokens without any.
std::string TextOf(const text::Tokenizer& tokenizer, const std::vector<TokenId>& ids);

}  // namespace samebit::server
