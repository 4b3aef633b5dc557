// samebit embed: vectors of texts.
#include <cstdio>

#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/engine_flags.h"
#include "cli/load_model.h"
#include "cli/number_text.h"
#include "cli/prompt.h"
#include "cli/served_model.h"
#include "engine/embedder.h"
#include "text/prompt_ids.h"

namespace samebit::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  samebit embed models/all-minilm-l6-v2 --text "A cat sleeps." --text "The kitten is napping." --json
  samebit embed model.gguf --text "A cat sleeps." --pooling last --no-normalize)";

Flag PoolingFlag(std::optional<Pooling>* target) {
  return {.name = "--pooling",
          .value = "mean|cls|last",
          .help = "how the rows of a text become its vector (default: the checkpoint's, else mean)",
          .set = [=](std::string_view text) -> Status {
            *target = ParsePooling(text);
            if (*target) return {};
            return Error{ErrorCode::kInvalidArgument, "expected mean, cls or last"};
          }};
}

class EmbedCommand final : public Command {
 public:
  std::string name() const override { return "embed"; }
  std::string summary() const override { return "vectors of texts"; }
  std::string examples() const override { return kExamples; }

  std::vector<Flag> flags() override {
    std::vector<Flag> flags = {Required(Text("MODEL", "", &model_path_, "a Hugging Face folder or a .gguf file"))};
    Append(flags, Grouped("Texts", {Required(TextList("--text", "TEXT", &texts_, "a text; may be repeated")),
                                    PoolingFlag(&pooling_),
                                    Switch("--no-normalize", &no_normalize_, true, "do not bring vectors to length 1")}));
    Append(flags, Grouped("Output", {Switch("--json", &json_, true, "print one JSON object (default: a line of numbers "
                                                                    "for each text)")}));
    Append(flags, engine_.machine_flags());
    Append(flags, engine_.cache_flags());
    return flags;
  }

  Result<ExitCode> Run(const Outside& outside) override {
    ASSIGN_OR_RETURN(const engine::EngineOptions options, engine_.Resolve());
    ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(outside, engine_.Loading(*model_path_, options)));
    ASSIGN_OR_RETURN(const auto embedder, engine::Embedder::Make(loaded.weights, options));
    const model::ModelConfig& config = loaded.model->config();
    const Pooling pooling = pooling_.value_or(engine::PoolingOf(config));
    const bool normalize = !no_normalize_ && engine::NormalizesVectors(config);
    std::vector<engine::EmbedRequest> requests;
    for (const std::string& text : texts_) {
      ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                       text::EmbeddingIds(*loaded.tokenizer, loaded.model->tokenizer(), text));
      requests.push_back({std::move(ids), pooling, normalize});
    }
    const std::vector<engine::EmbedRequest> asked = requests;
    ASSIGN_OR_RETURN(const auto vectors, engine::Embed(*embedder, std::move(requests)));
    if (!json_) {
      for (const std::vector<float>& vector : vectors) std::fputs(Line(vector).c_str(), stdout);
      return ExitCode::kHolds;
    }
    ASSIGN_OR_RETURN(const ModelIdentity identity, IdentityOf(loaded));
    JsonWriter json(JsonWriter::Layout::kCompact);
    json.BeginObject().Key("model_sha256").Text(identity.semantic.model_sha256);
    json.Key("arithmetic").Text(NumericPartOf(options).arithmetic).Key("isa").Text(kernels::IsaName(options.isa));
    json.Key("pooling").Text(PoolingName(pooling)).Key("normalized").Bool(normalize);
    json.Key("dimensions").Number(embedder->width()).Key("texts").BeginArray();
    for (size_t i = 0; i < vectors.size(); ++i) {
      json.BeginObject().Key("text").Text(texts_[i]).Key("tokens").Number(asked[i].tokens.size());
      json.Key("sha256").Text(Sha256::Of(std::string_view(reinterpret_cast<const char*>(vectors[i].data()),
                                                          vectors[i].size() * sizeof(float))).hex());
      json.Key("embedding").BeginArray();
      for (const float number : vectors[i]) json.Number(number);
      json.EndArray().EndObject();
    }
    std::fputs((json.EndArray().EndObject().Finish() + "\n").c_str(), stdout);
    return ExitCode::kHolds;
  }

 private:
  static std::string Line(const std::vector<float>& vector) {
    std::string line;
    for (const float number : vector) line += (line.empty() ? "" : ",") + Decimal(number);
    return line + "\n";
  }

  std::optional<std::string> model_path_;
  std::vector<std::string> texts_;
  std::optional<Pooling> pooling_;
  bool no_normalize_ = false, json_ = false;
  EngineFlags engine_;
};

}  // namespace

std::unique_ptr<Command> MakeEmbedCommand() { return std::make_unique<EmbedCommand>(); }

}  // namespace samebit::cli
