// samebit serve: the model over HTTP, in OpenAI's interface.
#include <algorithm>
#include <chrono>
#include <thread>

#include "base/limits.h"
#include "cli/access_flags.h"
#include "cli/command.h"
#include "cli/effective_sampling.h"
#include "cli/engine_flags.h"
#include "cli/interrupt.h"
#include "cli/load_model.h"
#include "cli/number_text.h"
#include "cli/served_model.h"
#include "cli/served_prompts.h"
#include "cli/versions.h"
#include "server/server.h"
#include "world/file.h"
#include "world/log.h"

namespace samebit::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  samebit serve model.gguf                              http://127.0.0.1:8080/v1, no key
  samebit serve model.gguf --port 0 --max-sequences 32  any free port; it is printed
  samebit serve model.gguf --api-keys keys.txt --host 0.0.0.0
  samebit serve --config serve.yaml --check-config      what would hold, and who said so; loads nothing
  curl http://127.0.0.1:8080/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{"messages":[{"role":"user","content":"Why is the sky blue?"}],"max_tokens":64}'
A line of keys.txt is a name, a space and the key's SHA-256: printf %s "$KEY" | sha256sum)";

constexpr uint16_t kPortDefault = 8080;
constexpr uint32_t kStopSecondsDefault = 30;
constexpr uint64_t kKeyFileBytesMax = 1 << 20;  // ten thousand keys
constexpr auto kPoll = std::chrono::milliseconds(50);

Flag TierFlag(std::optional<contract::Tier>* target) {
  return {.name = "--default-tier",
          .value = "0|1|2",
          .help = "reproducibility tier of requests that name none (default 2, strict)",
          .set = [=](std::string_view text) -> Status {
            *target = contract::ParseTier(text);
            if (*target) return {};
            return Error{ErrorCode::kInvalidArgument, "expected 0, 1, 2, statistical, request or strict"};
          }};
}

class ServeCommand final : public Command {
 public:
  std::string name() const override { return "serve"; }
  std::string summary() const override { return "the model over HTTP, in OpenAI's interface"; }
  std::string examples() const override { return kExamples; }

  std::vector<Flag> flags() override {
    std::vector<Flag> flags = {Required(Text("MODEL", "", &model_path_, "a .gguf file or a Hugging Face folder"))};
    Append(flags,
           Grouped("Server",
                   {Text("--host", "ADDRESS", &host_, "address to listen on (default 127.0.0.1: this machine only)"),
                    Whole("--port", &port_, 0, 65535, "port; 0: any free one (default 8080)"),
                    Text("--served-model-name", "NAME", &model_id_, "the model's name for clients (default: the file's)"),
                    TierFlag(&tier_),
                    Text("--chat-template", "FILE", &template_path_, "a Jinja template in place of the model's own"),
                    Text("--tool-syntax", "NAME", &tool_syntax_,
                         "how the model writes calls: hermes, llama3_json, gemma (default: what its template shows)"),
                    Text("--api-keys", "FILE", &keys_path_, "who may ask: a name and a SHA-256 a line (default: all)"),
                    Whole("--queue", &queue_, 0, 1 << 16, "answers that may wait for their turn (default 512)"),
                    Whole("--max-sequences", &sequences_, 1, 1024, "answers computed at once (default 64)"),
                    Whole("--max-body-mib", &body_mib_, 1, 256, "the largest request in MiB (default 8)"),
                    Whole("--max-connections", &connections_, 1, 100'000, "open connections (default 900)"),
                    Whole("--header-seconds", &header_seconds_, 1, 3600, "time for a request's headers (default 10)"),
                    Whole("--idle-seconds", &idle_seconds_, 1, 86'400, "idle connections are closed after (default 75)"),
                    Whole("--stop-seconds", &stop_seconds_, 0, 86'400,
                          "after SIGTERM, work in flight may take so long (default 30)"),
                    Switch("--no-access-log", &no_access_log_, true, "no line per request on standard error"),
                    Text("--prompts", "FOLDER", &prompts_path_, "prompt templates on offer (see `samebit prompt`)"),
                    Text("--container-image", "DIGEST", &container_image_, "goes into the fingerprint"),
                    Text("--deployment-version", "TEXT", &deployment_version_, "goes into the fingerprint")}));
    Append(flags, access_.flags());
    Append(flags, Grouped("Settings", {ConfigFlag(&config_path_),
                                       OnlyOnCommandLine(Switch("--check-config", &check_config_, true,
                                                                "print every setting and its origin, and end")),
                                       OnlyOnCommandLine(Switch("--json", &check_json_, true,
                                                                "with --check-config: for programs"))}));
    Append(flags, defaults_.default_flags());
    Append(flags, engine_.machine_flags());
    Append(flags, engine_.cache_flags());
    return flags;
  }

  bool reads_settings() const override { return true; }
  void TakeSettings(std::vector<Setting> settings) override { settings_ = std::move(settings); }

  Result<ExitCode> Run(const Outside& outside) override {
    ASSIGN_OR_RETURN(engine::EngineOptions options, engine_.Resolve());
    options.sequences_max = sequences_.value_or(options.sequences_max);
    server::ServerConfig config;
    RETURN_IF_ERROR(Configure(config));
    RETURN_IF_ERROR(CheckDefaults());
    if (check_config_) return ShowSettings();
    ASSIGN_OR_RETURN(const std::unique_ptr<server::PromptTemplates> prompts, LoadServedPrompts(prompts_path_));

    CatchInterrupts();
    ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(outside, engine_.Loading(*model_path_, options)));
    Tell(TimingsLine(loaded));
    ASSIGN_OR_RETURN(const ModelIdentity identity, IdentityOf(loaded));
    const model::ModelConfig& config_of_model = loaded.model->config();
    const bool generates = config_of_model.kind == model::ModelKind::kDecoder;
    const contract::FixedParts fixed(generates ? NumericPartOf(options) : NumericPartOfEncoder(options),
                                     DeploymentPartOf(options, container_image_, deployment_version_));
    std::unique_ptr<engine::Engine> engine;
    if (generates) {
      ASSIGN_OR_RETURN(engine, engine::Engine::Make(loaded.weights, loaded.tokenizer.get(), options));
    }
    ASSIGN_OR_RETURN(auto embedder, engine::Embedder::Make(loaded.weights, options));
    std::string template_source = loaded.model->tokenizer().chat_template.value_or("");
    std::unique_ptr<text::ChatTemplate> own_template;
    if (template_path_) {
      ASSIGN_OR_RETURN(template_source, world::ReadWholeFile(*template_path_, limits::kTemplateBytesMax));
      ASSIGN_OR_RETURN(own_template, text::MakeChatTemplate(template_source));
    }
    const text::ChatTemplate* chat_template = own_template ? own_template.get() : loaded.chat_template.get();
    std::unique_ptr<text::ChatEncoder> encoder;
    if (chat_template != nullptr)
      encoder = std::make_unique<text::ChatEncoder>(*loaded.tokenizer, loaded.model->tokenizer(), *chat_template);

    server::ServedModel model;
    model.id = model_id_.value_or(DefaultModelId(*model_path_));
    model.created_seconds = outside.clock.unix_ns() / 1'000'000'000;
    model.version = OwnVersion();
    model.vocabulary = loaded.model->config().vocabulary;
    model.context_max = engine ? engine->context_max() : embedder->tokens_max();
    model.generates = generates;
    model.vector_form = {engine::PoolingOf(config_of_model), engine::NormalizesVectors(config_of_model),
                         config_of_model.pooling ? "checkpoint" : "server",
                         config_of_model.normalized_vectors ? "checkpoint" : "server"};
    model.vector_width = embedder->width();
    model.embedding_tokens_max = embedder->tokens_max();
    model.has_first_pooling = embedder->has_pooling(Pooling::kFirst);
    for (TokenId id = 0; id < static_cast<TokenId>(loaded.tokenizer->vocabulary()); ++id)
      model.token_bytes_max =
          std::max(model.token_bytes_max, static_cast<uint32_t>(loaded.tokenizer->Bytes(id).size()));
    model.tokenizer = loaded.tokenizer.get();
    model.spec = &loaded.model->tokenizer();
    model.chat_template = chat_template;
    model.chat_template_source = template_source;
    model.tool_template = text::ReadToolTemplate(template_source);
    model.tool_syntax = tool_syntax_ ? text::FindToolSyntax(*tool_syntax_) : text::ToolSyntaxShownBy(template_source);
    model.chat_encoder = encoder.get();
    ASSIGN_OR_RETURN(const auto grammars, text::MakeGrammarCompiler(*loaded.tokenizer));
    model.grammars = grammars.get();
    model.prompts = prompts.get();
    model.checkpoint = loaded.model->sampling();
    model.defaults = defaults_;
    model.tier_default = tier_.value_or(contract::Tier::kStrict);
    model.semantic = identity.semantic;
    if (own_template) model.semantic.chat_template_sha256 = Sha256::Of(template_source).hex();
    model.fixed = &fixed;
    model.files = identity.files;

    world::StderrLog log;
    const std::string scheme = config.http.tls ? "https" : "http";
    const bool open_to_all = !config.keys.required() && config.http.address != "127.0.0.1" &&
                             config.http.address != "localhost" && config.http.address != "::1";
    if (open_to_all)
      log.Write(world::LogLevel::kWarning, "anybody who reaches " + config.http.address + " may ask: there are no --api-keys");
    ASSIGN_OR_RETURN(const auto server, server::ModelServer::Start(std::move(config), model, std::move(engine), std::move(embedder),
                                                                   {outside.clock, outside.entropy, log}));
    Tell("serving " + model.id + " on " + scheme + "://" + host_.value_or("127.0.0.1") + ":" + std::to_string(server->port()) +
         "/v1");
    return ServeUntilStopped(*server, outside.clock);
  }

 private:
  static void Tell(const std::string& line) { world::StderrLog().Write(world::LogLevel::kInfo, line); }

  Status Configure(server::ServerConfig& config) const {
    config.http.address = host_.value_or(config.http.address);
    config.http.port = static_cast<uint16_t>(port_.value_or(kPortDefault));
    config.http.connections_max = connections_.value_or(config.http.connections_max);
    config.http.header_seconds = header_seconds_.value_or(config.http.header_seconds);
    config.http.idle_seconds = idle_seconds_.value_or(config.http.idle_seconds);
    if (body_mib_) config.http.body_bytes_max = uint64_t{*body_mib_} << 20;
    config.queue_max = queue_.value_or(config.queue_max);
    config.access_log = !no_access_log_;
    RETURN_IF_ERROR(access_.Configure(config));
    if (!keys_path_) return {};
    ASSIGN_OR_RETURN(const std::string text, world::ReadWholeFile(*keys_path_, kKeyFileBytesMax));
    ASSIGN_OR_RETURN(config.keys, server::ApiKeys::Parse(text, *keys_path_));
    return {};
  }

  Status CheckDefaults() const {
    if (check_json_ && !check_config_)
      return Error{ErrorCode::kInvalidArgument, "--json belongs to --check-config; the access log is JSON anyway"};
    if (tool_syntax_ && text::FindToolSyntax(*tool_syntax_) == nullptr) {
      return Error{ErrorCode::kInvalidArgument, "--tool-syntax: expected one of " + text::ToolSyntaxNames() +
                                                    ", found '" + *tool_syntax_ + "'"};
    }
    if (defaults_.temperature && *defaults_.temperature > 0 && *defaults_.temperature < 0.01f) {
      return Error{ErrorCode::kInvalidArgument, "--temperature: use 0 (greedy) or 0.01 to 100, found " +
                                                    Decimal(*defaults_.temperature)};
    }
    return {};
  }

  Result<ExitCode> ShowSettings() const {
    if (world::KindOf(*model_path_) == world::PathKind::kAbsent)
      return Error{ErrorCode::kNotFound, "MODEL: there is nothing at " + *model_path_};
    WriteOut(check_json_ ? SettingsJson(settings_) : SettingsText(settings_));
    return ExitCode::kHolds;
  }

  // Until SIGTERM or Ctrl-C; then in order: no new work, what is in flight ends, within the limit.
  Result<ExitCode> ServeUntilStopped(server::ModelServer& server, const world::Clock& clock) const {
    while (!Interrupted()) {
      server.Tick();
      std::this_thread::sleep_for(kPoll);
    }
    const uint32_t seconds = stop_seconds_.value_or(kStopSecondsDefault);
    Tell("stopping: no new work; what is in flight may take " + std::to_string(seconds) + " s (again: at once)");
    server.StopWorking();
    const uint64_t limit_ns = clock.monotonic_ns() + uint64_t{seconds} * 1'000'000'000;
    const bool finished = server.FinishWork([&] { return clock.monotonic_ns() >= limit_ns; });
    Tell(finished ? "stopped" : "stopped; work in flight was ended with an error");
    return ExitCode::kHolds;
  }

  std::optional<std::string> model_path_, host_, model_id_, keys_path_, prompts_path_, template_path_, tool_syntax_,
      container_image_, deployment_version_;
  std::optional<uint32_t> port_, queue_, sequences_, body_mib_, connections_, header_seconds_, idle_seconds_,
      stop_seconds_;
  std::optional<contract::Tier> tier_;
  bool no_access_log_ = false;
  AccessFlags access_;
  std::optional<std::string> config_path_;
  bool check_config_ = false, check_json_ = false;
  std::vector<Setting> settings_;
  SamplingFlags defaults_;
  EngineFlags engine_;
};

}  // namespace

std::unique_ptr<Command> MakeServeCommand() { return std::make_unique<ServeCommand>(); }

}  // namespace samebit::cli
