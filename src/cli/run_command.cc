// samebit run: one answer, or a chat in the terminal.
#include <unistd.h>

#include "base/limits.h"
#include "cli/answer.h"
#include "cli/answer_json.h"
#include "cli/chat.h"
#include "cli/command.h"
#include "cli/effective_sampling.h"
#include "cli/engine_flags.h"
#include "cli/interrupt.h"
#include "cli/load_model.h"
#include "cli/number_text.h"
#include "cli/prompt.h"
#include "world/log.h"

namespace samebit::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  samebit run model.gguf --prompt "Why is the sky blue?"
  samebit run model.gguf                                 a chat; Ctrl-C stops an answer, /reset, /exit
  echo "Say hello." | samebit run model.gguf
  samebit run model.gguf --prompt "A name for a cat" --temperature 0.8 --n 4 --json
  samebit run model.gguf --raw "Once upon a time" --max-tokens 64 --logprobs 3 --json)";

// Everything of standard input. Failures: kTooLarge, kIo.
Result<std::string> ReadStandardInput() {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
    if (count == 0) return text;
    if (count < 0) return Error{ErrorCode::kIo, "standard input could not be read"};
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > limits::kPromptBytesMax) {
      return Error{ErrorCode::kTooLarge,
                   "the prompt on standard input has more than " + std::to_string(limits::kPromptBytesMax) + " bytes"};
    }
  }
}

class RunCommand final : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "one answer, or a chat in the terminal"; }
  std::string examples() const override { return kExamples; }

  std::vector<Flag> flags() override {
    std::vector<Flag> flags = {Required(Text("MODEL", "", &model_path_, "a .gguf file or a Hugging Face folder"))};
    Append(flags, Grouped("Prompt (none: a chat, or standard input)",
                          {Text("--prompt", "TEXT", &prompt_, "one user turn through the model's chat template"),
                           Text("--system", "TEXT", &system_, "the system turn before it"),
                           Text("--raw", "TEXT", &raw_, "the text as it is, without a template"),
                           Text("--token-ids", "IDS", &token_ids_, "token ids as they are, as in 1,2,3"),
                           Whole64("--now", &now_, "the date, in seconds since 1970, for templates that print one")}));
    Append(flags, sampling_.flags());
    Append(flags,
           Grouped("Output",
                   {Switch("--json", &json_, true, "print one JSON object"),
                    Whole("--logprobs", &sampling_.logprobs, 0, limits::kTopLogprobsMax,
                          "with --json: log-probability and margin per token, and the K likeliest tokens"),
                    Switch("--score-prompt", &score_prompt_, true, "with --json: the same for the prompt's tokens"),
                    Switch("--stream", &stream_, true, "print text as it is made (default)"),
                    Switch("--no-stream", &no_stream_, true, "print text when the answer is done"),
                    Switch("--verbose", &verbose_, true, "settings and timings on standard error")}));
    Append(flags, engine_.machine_flags());
    Append(flags, engine_.cache_flags());
    return flags;
  }

  Result<ExitCode> Run(const Outside& outside) override {
    RETURN_IF_ERROR(CheckFlags());
    ASSIGN_OR_RETURN(engine::EngineOptions options, engine_.Resolve());
    const bool is_chat = !prompt_ && !raw_ && !token_ids_ && outside.terminal.input_is_terminal;
    if (is_chat && json_) {
      return Error{ErrorCode::kInvalidArgument,
                   "--json prints one answer: give it --prompt, --raw, --token-ids or standard input"};
    }
    if (!is_chat && !prompt_ && !raw_ && !token_ids_) {
      ASSIGN_OR_RETURN(prompt_, ReadStandardInput());
    }

    CatchInterrupts();
    ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(outside, engine_.Loading(*model_path_, options)));
    if (verbose_) Tell(TimingsLine(loaded));
    ASSIGN_OR_RETURN(EffectiveSampling sampling,
                     ResolveSampling(sampling_, loaded.model->sampling(), loaded.model->tokenizer(), outside.entropy));
    ASSIGN_OR_RETURN(const auto engine, engine::Engine::Make(loaded.weights, loaded.tokenizer.get(), options));
    if (is_chat) return Chat(outside, loaded, *engine, sampling, {system_.value_or(""), now()});

    ASSIGN_OR_RETURN(const std::vector<TokenId> prompt, MakePrompt(loaded));
    if (prompt.size() >= engine->context_max()) {
      return Error{ErrorCode::kContextOverflow,
                   "the prompt has " + std::to_string(prompt.size()) + " tokens and the context holds " +
                       std::to_string(engine->context_max()) + ", the answer included; shorten the prompt"};
    }
    sampling.FitTokensMax(engine->context_max() - static_cast<uint32_t>(prompt.size()));
    return PrintAnswer(outside, loaded, *engine, sampling, prompt);
  }

 private:
  Status CheckFlags() const {
    const auto refuse = [](const char* sentence) { return Error{ErrorCode::kInvalidArgument, sentence}; };
    if (prompt_.has_value() + raw_.has_value() + token_ids_.has_value() > 1) {
      return refuse("--prompt, --raw and --token-ids exclude each other: give one");
    }
    if (system_ && (raw_ || token_ids_)) return refuse("--system needs the chat template: use it with --prompt");
    if (json_ && stream_) return refuse("--json prints one object at the end: leave out --stream");
    if (stream_ && no_stream_) return refuse("--stream and --no-stream exclude each other: give one");
    if (!json_ && (sampling_.logprobs || score_prompt_))
      return refuse("--logprobs and --score-prompt are printed with --json: add it");
    return {};
  }

  std::optional<int64_t> now() const {
    return now_ ? std::optional<int64_t>(static_cast<int64_t>(*now_)) : std::nullopt;
  }

  static void Tell(const std::string& line) { world::StderrLog().Write(world::LogLevel::kInfo, line); }

  Result<std::vector<TokenId>> MakePrompt(const LoadedModel& loaded) const {
    if (token_ids_) {
      Result<std::vector<TokenId>> ids = ParseTokenIds(*token_ids_);
      if (!ids.ok()) return Error{ids.error().code, "--token-ids: " + ids.error().message};
      RETURN_IF_ERROR(CheckPromptIds(loaded, ids.value()));
      return ids;
    }
    if (raw_) return PromptIds(loaded, *raw_);
    std::vector<text::ChatMessage> messages;
    if (system_) messages.push_back({"system", *system_});
    messages.push_back({"user", *prompt_});
    ASSIGN_OR_RETURN(const std::string rendered, RenderChat(loaded, messages, now()));
    return PromptIds(loaded, rendered);
  }

  Result<ExitCode> PrintAnswer(const Outside& outside, const LoadedModel& loaded, engine::Engine& engine,
                               const EffectiveSampling& sampling, const std::vector<TokenId>& prompt) const {
    engine::Request request = sampling.request;
    request.prompt = prompt;
    request.score_prompt = score_prompt_;
    // Beams are known at the end only, and several answers at once would be mixed on the screen.
    const bool streams = !json_ && !no_stream_ && request.samples == 1 && request.beam_width == 0;
    engine::TokenSink sink;
    if (streams) sink = [](uint32_t, const engine::TokenRecord&, std::string_view text) { WriteOut(text); };

    const uint64_t start_ns = outside.clock.monotonic_ns();
    ASSIGN_OR_RETURN(const engine::Completion completion, Answer(engine, std::move(request), std::move(sink)));
    const double seconds = static_cast<double>(outside.clock.monotonic_ns() - start_ns) * 1e-9;

    if (json_) {
      ASSIGN_OR_RETURN(const std::string json, AnswerJson({loaded, sampling, prompt, completion, engine.options(),
                                                           sampling_.logprobs.has_value() || score_prompt_}));
      WriteOut(json + "\n");
    } else {
      PrintText(outside, completion, streams);
      if (sampling.request.sampling.temperature > 0 && !sampling_.seed) {
        Tell("replay this answer with --seed " + std::to_string(sampling.request.sampling.seed));
      }
    }
    if (verbose_) TellSpeed(completion, engine.options(), seconds);
    const bool cancelled = completion.choices.front().finish_reason == engine::FinishReason::kCancelled;
    return cancelled ? ExitCode::kNotMeasured : ExitCode::kHolds;
  }

  // A terminal gets a line end after the text; a pipe or file gets the text and nothing else.
  static void PrintText(const Outside& outside, const engine::Completion& completion, bool streamed) {
    const bool several = completion.choices.size() > 1;
    for (const engine::Choice& choice : completion.choices) {
      if (several) WriteOut("--- answer " + std::to_string(choice.sample_index) + "\n");
      if (!streamed) WriteOut(choice.text);
      if (several || outside.terminal.output_is_terminal) WriteOut("\n");
    }
  }

  static void TellSpeed(const engine::Completion& completion, const engine::EngineOptions& options, double seconds) {
    uint64_t tokens = 0;
    for (const engine::Choice& choice : completion.choices) tokens += choice.tokens.size();
    Tell(std::to_string(completion.prompt_tokens) + " prompt tokens (" +
         std::to_string(completion.trace.cached_prompt_tokens) + " cached), " + std::to_string(tokens) +
         " answer tokens in " + Fixed(seconds, 3) + " s, " + kernels::IsaName(options.isa) + ", " +
         std::to_string(options.threads) + " threads");
  }

  std::optional<std::string> model_path_, prompt_, system_, raw_, token_ids_;
  std::optional<uint64_t> now_;
  SamplingFlags sampling_;
  EngineFlags engine_;
  bool json_ = false, score_prompt_ = false, stream_ = false, no_stream_ = false, verbose_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRunCommand() { return std::make_unique<RunCommand>(); }

}  // namespace samebit::cli
