#include "verify/replay.h"

#include <algorithm>

#include "engine/weights.h"
#include "model/model.h"
#include "model/model_digest.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"
#include "verify/engine_answerer.h"
#include "verify/matrix.h"
#include "verify/plan.h"
#include "verify/prompt_file.h"
#include "verify/prompt_set.h"
#include "world/machine.h"

namespace samebit::verify {
namespace {

// Tokens of room that a template or a tokenizer of few words needs at least for one stock record.
constexpr uint32_t kLimitSlackTokens = 4;

struct LoadedModel {
  std::unique_ptr<model::Model> model;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<text::ChatTemplate> chat_template;  // null: the model has none
  std::vector<model::FileDigest> files;
  std::shared_ptr<const engine::Weights> weights;
};

Result<LoadedModel> LoadModel(const std::string& path, uint32_t threads, const WeightsLoader& load_weights) {
  LoadedModel loaded;
  ASSIGN_OR_RETURN(loaded.model, model::Open(path));
  ASSIGN_OR_RETURN(loaded.tokenizer, text::MakeTokenizer(loaded.model->tokenizer()));
  if (loaded.model->tokenizer().chat_template) {
    ASSIGN_OR_RETURN(loaded.chat_template, text::MakeChatTemplate(*loaded.model->tokenizer().chat_template));
  }
  ASSIGN_OR_RETURN(loaded.files, loaded.model->Digests());
  ASSIGN_OR_RETURN(loaded.weights, load_weights(*loaded.model, threads));
  return loaded;
}

engine::EngineOptions OptionsOf(const ReplayOptions& options, uint32_t context_max) {
  engine::EngineOptions chosen;
  chosen.threads = options.threads != 0 ? options.threads : std::min(world::CoresAvailable(), 256u);
  chosen.isa = options.isa.value_or(kernels::BestIsa());
  chosen.cache_type = options.cache_type;
  chosen.cache_bytes = options.cache_bytes;
  chosen.context_max = context_max;
  chosen.reduction = options.control ? engine::Reduction::kControl : engine::Reduction::kLaw;
  return BaseOptions(chosen);
}

struct PromptSet {
  std::vector<PreparedPrompt> prompts;
  std::optional<uint32_t> limit_prompt;
};

// The written prompts that fit the context, then the long ones made to measure, then the one near the limit.
Result<PromptSet> PreparePrompts(const ReplayOptions& options, const PromptRenderer& renderer, const PlanSizes& sizes,
                                 uint32_t context_max) {
  std::vector<Prompt> written;
  if (options.prompts_path.empty()) {
    written = BuiltInPrompts();
  } else {
    ASSIGN_OR_RETURN(written, LoadPromptFile(options.prompts_path));
  }
  PromptSet set;
  for (const Prompt& prompt : written) {
    ASSIGN_OR_RETURN(std::vector<TokenId> ids, renderer.Render(prompt));
    if (ids.empty() || ids.size() + sizes.output_tokens > context_max) continue;
    set.prompts.push_back({prompt.id, prompt.category, std::move(ids), prompt.tokens_max, 1});
  }
  if (set.prompts.empty())
    return Error{ErrorCode::kContextOverflow, "expected a prompt that fits the context of " +
                                                  std::to_string(context_max) + " tokens, found none"};
  for (uint32_t tokens : sizes.long_prompt_tokens) {
    if (tokens + sizes.output_tokens > context_max) continue;
    auto made = MakeLongPrompt(renderer, "long-" + std::to_string(tokens), tokens);
    if (made.ok()) set.prompts.push_back(std::move(*made));
    else if (made.error().code != ErrorCode::kContextOverflow) return made.error();
  }
  const uint32_t room = sizes.limit_output_tokens + kLimitSlackTokens;
  if (context_max > 2 * room) {
    auto made = MakeLongPrompt(renderer, "near-limit", context_max - room);
    if (!made.ok() && made.error().code != ErrorCode::kContextOverflow) return made.error();
    if (made.ok()) {
      made->base_chunk = sizes.limit_base_chunk;
      set.limit_prompt = static_cast<uint32_t>(set.prompts.size());
      set.prompts.push_back(std::move(*made));
    }
  }
  return set;
}

std::string PromptSetSha256(const std::vector<PreparedPrompt>& prompts) {
  Sha256 all;
  for (const PreparedPrompt& prompt : prompts) {
    all.Update(prompt.id);
    all.Update("\n");
    for (TokenId id : prompt.ids) {
      const auto bits = static_cast<uint32_t>(id);
      const uint8_t bytes[4] = {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8),
                                static_cast<uint8_t>(bits >> 16), static_cast<uint8_t>(bits >> 24)};
      all.Update(bytes, sizeof bytes);
    }
  }
  return all.Finish().hex();
}

}  // namespace

Result<ReplayReport> RunReplay(const ReplayOptions& options, const ReplayHooks& hooks) {
  CHECK(hooks.clock != nullptr);
  const uint64_t started_ns = hooks.clock->monotonic_ns();
  ReplayReport report;
  report.started_utc = UtcText(hooks.clock->unix_ns());
  const PlanSizes& sizes = options.plan == PlanKind::kQuick ? QuickSizes() : FullSizes();

  ASSIGN_OR_RETURN(LoadedModel loaded,
                   LoadModel(options.model_path, options.threads != 0 ? options.threads : world::CoresAvailable(),
                             hooks.load_weights));
  const uint32_t context_max = std::min(loaded.model->config().context, sizes.context_max);
  const PromptRenderer renderer{loaded.tokenizer.get(), loaded.chat_template.get(), &loaded.model->tokenizer()};
  ASSIGN_OR_RETURN(PromptSet set, PreparePrompts(options, renderer, sizes, context_max));

  MatrixInputs inputs;
  inputs.base = OptionsOf(options, context_max);
  ASSIGN_OR_RETURN(inputs.cells, OnlyAxes(MakePlan({sizes, inputs.base, kernels::AvailableIsas(),
                                                    world::CoresAvailable(), context_max, &set.prompts,
                                                    set.limit_prompt}),
                                          options.axes));
  inputs.prompts = std::move(set.prompts);

  report.plan = options.plan == PlanKind::kQuick ? "quick" : "full";
  report.control = options.control;
  report.model_path = options.model_path;
  report.model_name = loaded.model->config().name;
  report.model_family = loaded.model->config().family;
  report.model_files = loaded.files;
  report.prompt_set = options.prompts_path.empty() ? "built-in" : options.prompts_path;
  report.prompt_set_sha256 = PromptSetSha256(inputs.prompts);
  report.prompt_count = static_cast<uint32_t>(inputs.prompts.size());
  report.seed = options.seed;
  report.machine = world::CpuModel();
  report.cores = world::CoresAvailable();
  report.version = options.version;
  report.base_options = inputs.base;
  EngineAnswerer answerer({.weights = loaded.weights,
                           .model_path = options.model_path,
                           .model_sha256 = model::ModelSha256(loaded.files),
                           .process_id = world::ProcessId(),
                           .base = inputs.base,
                           .seed = options.seed},
                          inputs.prompts, hooks);
  RETURN_IF_ERROR(RunMatrix(inputs, answerer, hooks, report));
  report.seconds = static_cast<double>(hooks.clock->monotonic_ns() - started_ns) * 1e-9;
  return report;
}

}  // namespace samebit::verify
