// Greedy continuation of token ids, without any text: the numeric modules end to end, for machines that we cross-build
// for.
//
//   samebit_tokens MODEL.gguf ID,ID,... TOKENS [ISA [THREADS]]
// prints one line of JSON: isa, token_ids, logits_digest. Exit 2 for bad arguments or a bad model.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/model.h"

namespace {

using namespace samebit;

int Refuse(const std::string& message) {
  std::fprintf(stderr, "samebit_tokens: %s\n", message.c_str());
  return 2;
}

std::vector<TokenId> ParseIds(const char* text) {
  std::vector<TokenId> ids;
  for (char* end = nullptr; *text != '\0'; text = *end == ',' ? end + 1 : end) {
    ids.push_back(static_cast<TokenId>(std::strtol(text, &end, 10)));
    if (end == text) return {};
  }
  return ids;
}

Result<engine::Completion> Answer(const char* path, std::vector<TokenId> prompt, uint32_t tokens,
                                  const engine::EngineOptions& options) {
  ASSIGN_OR_RETURN(const auto model, model::Open(path));
  ASSIGN_OR_RETURN(const auto weights, engine::PackWeights(*model, options.threads));
  ASSIGN_OR_RETURN(const auto engine, engine::Engine::Make(weights, nullptr, options));
  engine::Request request;
  request.prompt = std::move(prompt);
  request.tokens_max = tokens;
  request.logits_digests = true;
  return engine::Run(*engine, std::move(request));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 6) return Refuse("usage: samebit_tokens MODEL.gguf ID,ID,... TOKENS [ISA [THREADS]]");
  engine::EngineOptions options;
  options.isa = kernels::BestIsa();
  options.context_max = 1024;
  options.cache_bytes = 64ull << 20;
  if (argc > 4) {
    const Result<kernels::Isa> isa = kernels::ParseIsa(argv[4]);
    if (!isa.ok()) return Refuse(isa.error().message);
    options.isa = *isa;
  }
  if (argc > 5) options.threads = static_cast<uint32_t>(std::atoi(argv[5]));
  const Result<engine::Completion> completion =
      Answer(argv[1], ParseIds(argv[2]), static_cast<uint32_t>(std::atoi(argv[3])), options);
  if (!completion.ok()) return Refuse(completion.error().message);
  const engine::Choice& choice = completion->choices[0];
  std::string ids;
  for (const engine::TokenRecord& token : choice.tokens) ids += (ids.empty() ? "" : ",") + std::to_string(token.id);
  std::printf("{\"isa\":\"%s\",\"token_ids\":[%s],\"logits_digest\":\"%s\"}\n", kernels::IsaName(options.isa),
              ids.c_str(), choice.logits_digest.hex().c_str());
  return 0;
}
