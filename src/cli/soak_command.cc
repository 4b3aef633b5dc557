// samebit soak: one prompt, many times, under a load that changes all the time; one answer must come out.
#include <cstdio>

#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/engine_flags.h"
#include "cli/interrupt.h"
#include "cli/load_model.h"
#include "cli/prompt.h"
#include "cli/versions.h"
#include "verify/soak.h"
#include "world/file.h"
#include "world/machine.h"

namespace samebit::cli {
namespace {

constexpr const char* kExamples =
    R"(Exit codes: 0 one answer, 1 more than one, 2 bad input, 3 the load did not change enough to prove anything.

Examples:
  samebit soak model.gguf
  samebit soak model.gguf --runs 1000 --tokens 1000 --json soak.json
  samebit soak model.gguf --runs 50 --tokens 100 --control    an order-dependent arm, which must be caught)";

constexpr const char* kPrompt =
    "Once upon a time, in a city by the sea, there lived an old watchmaker whose clocks never agreed. Every morning he "
    "wound them all, wrote down what each of them said, and tried to find out which of them was right. One day";
constexpr const char* kNeighbours[] = {
    "The three laws of motion are", "def quicksort(values):", "Dear Sir or Madam,\nI am writing to",
    "The list of prime numbers below one hundred is 2, 3, 5,", "Translate to French: The weather is nice today. ->"};

class SoakCommand final : public Command {
 public:
  std::string name() const override { return "soak"; }
  std::string summary() const override {
    return "answers one prompt many times under changing load; one answer must come out";
  }
  std::string examples() const override { return kExamples; }

  std::vector<Flag> flags() override {
    std::vector<Flag> flags = {
        Required(Text("MODEL", "", &model_path_, "a .gguf file or a Hugging Face folder")),
        Whole("--runs", &runs_, 1, 1'000'000, "answers to compare (default 1000)"),
        Whole("--tokens", &tokens_, 1, 100'000, "tokens of each answer (default 1000)"),
        Whole("--in-flight", &in_flight_, 2, 512, "most requests at once (default 48)"),
        Whole64("--load-seed", &load_seed_, "seed of the load (default 1)"),
        Text("--raw", "TEXT", &prompt_, "the prompt, as it is"),
        Switch("--control", &control_, true, "run the order-dependent arm, which must be caught"),
        Text("--json", "FILE", &json_path_, "the result, for programs")};
    Append(flags, engine_.machine_flags());
    Append(flags, engine_.cache_flags());
    return flags;
  }

  Result<ExitCode> Run(const Outside& outside) override {
    CatchInterrupts();
    verify::SoakOptions options;
    ASSIGN_OR_RETURN(options.engine, engine_.Resolve());
    options.engine.sequences_max = in_flight_.value_or(options.in_flight_max);
    if (control_) options.engine.reduction = engine::Reduction::kControl;
    options.runs = runs_.value_or(options.runs);
    options.tokens = tokens_.value_or(options.tokens);
    options.in_flight_max = in_flight_.value_or(options.in_flight_max);
    options.load_seed = load_seed_.value_or(options.load_seed);

    ASSIGN_OR_RETURN(const LoadedModel loaded,
                     LoadModel(outside, engine_.Loading(*model_path_, options.engine)));
    ASSIGN_OR_RETURN(options.prompt, PromptIds(loaded, prompt_.value_or(kPrompt)));
    for (const char* text : kNeighbours) {
      ASSIGN_OR_RETURN(auto ids, PromptIds(loaded, text));
      options.neighbour_prompts.push_back(std::move(ids));
    }
    // Small pages: the prompt fills some of them, so that the prefix cache has something to find.
    if (!engine_.page_tokens) options.engine.page_tokens = 16;
    // Two thirds of what the fullest load would need: some are preempted.
    const auto& config = loaded.weights->config;
    const uint64_t token_bytes = uint64_t{2} * config.layers * config.kv_heads * config.head_size *
                                 kernels::CacheElementBytes(options.engine.cache_type);
    if (!engine_.cache_mib)
      options.engine.cache_bytes =
          token_bytes * (options.prompt.size() + options.tokens) * options.in_flight_max * 2 / 3;

    const uint64_t begin_ns = outside.clock.monotonic_ns();
    ProgressBar bar(outside.terminal, "soak");
    ASSIGN_OR_RETURN(
        const verify::SoakReport report,
        verify::RunSoak(
            loaded.weights, options, [&](uint32_t done) { bar.Show(done, options.runs); }, &InterruptFlag()));
    bar.Erase();
    const double seconds = static_cast<double>(outside.clock.monotonic_ns() - begin_ns) * 1e-9;
    Print(options, report, seconds);
    if (json_path_) RETURN_IF_ERROR(world::WriteFileAtomically(*json_path_, Json(options, report, seconds)));
    if (!report.one_answer()) return ExitCode::kDoesNotHold;
    return report.load_changed() ? ExitCode::kHolds : ExitCode::kNotMeasured;
  }

 private:
  static void Print(const verify::SoakOptions& options, const verify::SoakReport& report, double seconds) {
    std::printf("%u runs of %u tokens in %.0f s: %u distinct answer%s\n", report.runs, report.tokens, seconds,
                report.distinct_answers, report.distinct_answers == 1 ? "" : "s");
    std::printf(
        "load: %llu steps, up to %llu sequences in a step, %u different batch sizes, %llu preemptions, "
        "%llu cached tokens, %u neighbours (%u cancelled)\n",
        static_cast<unsigned long long>(report.steps), static_cast<unsigned long long>(report.sequences_in_step_max),
        report.batch_sizes, static_cast<unsigned long long>(report.preemptions),
        static_cast<unsigned long long>(report.cached_tokens), report.neighbours, report.neighbours_cancelled);
    std::printf("answer %s\nlogits %s\n", report.answer_digest.c_str(), report.logits_digest.c_str());
    for (const verify::SoakDivergence& divergence : report.divergences)
      std::printf("run %u differs from token %u on (margin there %g)\n", divergence.run, divergence.position,
                  static_cast<double>(divergence.base_margin));
    if (report.one_answer() && !report.load_changed())
      std::printf(
          "NOT MEASURED: the load did not change enough (it needs several batch sizes, a preemption and a cache hit);"
          " ask for more runs or tokens\n");
    if (options.engine.reduction == engine::Reduction::kControl)
      std::printf("control arm: %s\n", report.one_answer() ? "NOT CAUGHT" : "caught");
  }

  std::string Json(const verify::SoakOptions& options, const verify::SoakReport& report, double seconds) const {
    JsonWriter json;
    json.BeginObject();
    json.Key("schema").Text("samebit.soak/1").Key("version").Text(OwnVersion());
    json.Key("model").Text(*model_path_).Key("cpu").Text(world::CpuModel());
    json.Key("isa").Text(kernels::IsaName(options.engine.isa)).Key("threads").Number(options.engine.threads);
    json.Key("control").Bool(options.engine.reduction == engine::Reduction::kControl);
    json.Key("runs").Number(report.runs).Key("tokens").Number(report.tokens).Key("seconds").Number(seconds);
    json.Key("distinct_answers").Number(report.distinct_answers);
    json.Key("answer_digest").Text(report.answer_digest).Key("logits_digest").Text(report.logits_digest);
    json.Key("load").BeginObject();
    json.Key("load_seed").Text(std::to_string(options.load_seed)).Key("in_flight_max").Number(options.in_flight_max);
    json.Key("steps").Number(report.steps).Key("rows").Number(report.rows);
    json.Key("sequences_in_step_max")
        .Number(report.sequences_in_step_max)
        .Key("batch_sizes")
        .Number(report.batch_sizes);
    json.Key("preemptions").Number(report.preemptions).Key("cached_tokens").Number(report.cached_tokens);
    json.Key("neighbours").Number(report.neighbours).Key("neighbours_cancelled").Number(report.neighbours_cancelled);
    json.EndObject();
    json.Key("divergences").BeginArray();
    for (const verify::SoakDivergence& divergence : report.divergences) {
      json.BeginObject().Key("run").Number(divergence.run).Key("position").Number(divergence.position);
      json.Key("base_margin").Number(divergence.base_margin).EndObject();
    }
    json.EndArray().EndObject();
    return json.Finish() + "\n";
  }

  std::optional<std::string> model_path_, prompt_, json_path_;
  std::optional<uint32_t> runs_, tokens_, in_flight_;
  std::optional<uint64_t> load_seed_;
  EngineFlags engine_;
  bool control_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeSoakCommand() { return std::make_unique<SoakCommand>(); }

}  // namespace samebit::cli
