// Answers from a server, over HTTP. Calling thread, and one thread for each request in flight.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "verify/answerer.h"
#include "verify/prompt.h"
#include "verify/remote/choices.h"
#include "verify/remote/probe.h"

namespace samebit::verify {

// Runs the command that restarts the server; returns when the command has ended.
using ServerRestart = std::function<Status()>;

class RemoteAnswerer final : public Answerer {
 public:
  // What is referred to outlives it. samples_max: the largest n of the plan.
  RemoteAnswerer(const Site& site, const ServerFacts& facts, const std::vector<PreparedPrompt>& prompts, uint64_t seed,
                 uint32_t samples_max, ServerRestart restart);

  Result<engine::Completion> BaseAnswer(const BaseKey& key, uint32_t tokens_max, const Watcher& watch) override;
  Result<CellRun> Run(const Cell& cell, const Watcher& watch) override;
  Evidence EvidenceFor(const Cell& cell, const CellRun& run) const override;

  // What the answers gave reason to say, after all of them: caches that may have answered in the model's place.
  std::vector<std::string> Suspicions() const;

 private:
  WireRequest RequestOf(const CellRequest& request) const;
  RemoteLoad LoadOf(const Cell& cell) const;
  Result<engine::Completion> AskAlone(const CellRequest& request, const Watcher& watch, double& seconds);
  Status RestartServer(const Watcher& watch, SeenFromOutside& seen);
  void Keep(const Cell& cell, RemoteDriven driven, CellRun& run);
  // A sentence where this answer was made by something else than the answers before it; empty: it was not.
  std::string OtherMaker(const WireAnswer& answer, const WireRequest& request);
  void NoteSpeed(const CellRequest& request, double seconds);

  const Site& site_;
  const ServerFacts& facts_;
  const std::vector<PreparedPrompt>& prompts_;
  const uint64_t seed_;
  const uint32_t samples_max_;
  const ServerRestart restart_;
  const ServerCount count_;
  ChoiceMaker maker_;
  std::map<std::string, std::string> fingerprints_;  // by the request's parameters, the prompt left out
  std::map<BaseKey, double> first_seconds_;  // of the base answers, per token asked
  std::map<uint32_t, engine::Completion> many_;  // per prompt: the answer with n = samples_max, alone
  uint32_t repeats_ = 0, fast_repeats_ = 0;
  uint64_t cached_tokens_ = 0;
  uint32_t dead_cells_ = 0;  // one after the other, without any answer
};

}  // namespace samebit::verify
