#include "verify/remote/remote_answerer.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "verify/remote/remote_evidence.h"
#include "verify/requests.h"

namespace samebit::verify {
namespace {

// A repeated answer that took less than this share of its first call's time may have come from a store.
constexpr double kFastShare = 0.25;
constexpr double kFastSecondsMin = 0.05;  // of the first call; below it the network decides
constexpr uint32_t kDeadCellsMax = 2;     // then the server is gone, and every further cell would wait for nothing
constexpr uint64_t kRestartSecondsMax = 600;
constexpr uint64_t kSeedMask = 0x7fffffff;  // llama.cpp takes 32 bits of a seed, others a signed number
constexpr uint32_t kCompanyPromptsMax = 12;

}  // namespace

RemoteAnswerer::RemoteAnswerer(const Site& site, const ServerFacts& facts, const std::vector<PreparedPrompt>& prompts,
                               uint64_t seed, uint32_t samples_max, ServerRestart restart)
    : site_(site), facts_(facts), prompts_(prompts), seed_(seed), samples_max_(samples_max),
      restart_(std::move(restart)), count_(CounterOf(site, facts)), maker_(facts.identity) {}

WireRequest RemoteAnswerer::RequestOf(const CellRequest& request) const {
  WireRequest wire;
  wire.model = facts_.model;
  wire.messages = prompts_[request.prompt].messages;
  wire.tokens_max = request.tokens_max;
  wire.samples = request.samples;
  if (request.sampling == SamplingKind::kSeeded) {
    wire.temperature = 0.8;
    wire.top_p = 0.95;
    wire.seed = SeedOf(seed_, request.prompt) & kSeedMask;
  }
  return wire;
}

RemoteLoad RemoteAnswerer::LoadOf(const Cell& cell) const {
  RemoteLoad load;
  load.in_flight = cell.in_flight;
  load.company_min = cell.company_min;
  for (const CellRequest& request : cell.requests) {
    load.requests.push_back(RequestOf(request));
    load.requests.back().streamed = cell.streamed;
  }
  if (cell.in_flight == 1) return load;
  load.company = [this, company = cell.company](uint32_t number) {
    const auto prompt = static_cast<uint32_t>(number % std::min<size_t>(prompts_.size(), kCompanyPromptsMax));
    WireRequest wire = RequestOf({.prompt = prompt, .tokens_max = kCompanyTokensMax - number % 25});
    if (company == Company::kHot) {
      wire.temperature = 2;
      wire.top_p = 0.95;
      wire.presence_penalty = 1;
      wire.frequency_penalty = 0.5;
      wire.seed = number + 1;
    }
    return wire;
  };
  return load;
}

Result<engine::Completion> RemoteAnswerer::AskAlone(const CellRequest& request, const Watcher& watch, double& seconds) {
  RemoteLoad load;
  load.requests = {RequestOf(request)};
  ASSIGN_OR_RETURN(RemoteDriven driven, DriveServer(site_, facts_.manner, load, nullptr, watch));
  RemoteResult& result = driven.results.front();
  if (!result.told) return Error{ErrorCode::kIo, result.error};
  seconds = static_cast<double>(result.told->ended_ns - result.told->began_ns) * 1e-9;
  if (const std::string other = OtherMaker(result.told->answer, load.requests.front()); !other.empty())
    return Error{ErrorCode::kIo, other};
  return maker_.Make(result.told->answer, load.requests.front());
}

Result<engine::Completion> RemoteAnswerer::BaseAnswer(const BaseKey& key, uint32_t tokens_max, const Watcher& watch) {
  CellRequest request = {.prompt = key.prompt, .sampling = key.sampling, .tokens_max = tokens_max};
  double seconds = 0;
  if (key.sample_index == 0) {
    ASSIGN_OR_RETURN(engine::Completion completion, AskAlone(request, watch, seconds));
    first_seconds_[key] = seconds / tokens_max;
    return completion;
  }
  // No field asks for one sample of many: the others of a prompt come from one request for all of them.
  request.samples = samples_max_;
  if (many_.count(key.prompt) == 0) {
    ASSIGN_OR_RETURN(engine::Completion completion, AskAlone(request, watch, seconds));
    many_.emplace(key.prompt, std::move(completion));
  }
  engine::Completion completion = many_.at(key.prompt);
  std::erase_if(completion.choices, [&](const engine::Choice& choice) { return choice.sample_index != key.sample_index; });
  if (completion.choices.empty()) return Error{ErrorCode::kMalformed, "expected samples that are numbered from 0"};
  return completion;
}

Result<CellRun> RemoteAnswerer::Run(const Cell& cell, const Watcher& watch) {
  CellRun run;
  run.outside.emplace();
  if (cell.where != Where::kHere) {
    const Status restarted = RestartServer(watch, *run.outside);
    if (!restarted.ok() && restarted.error().code == ErrorCode::kCancelled) return restarted.error();
    if (!restarted.ok()) {
      run.failure = restarted.error().message;
      return run;
    }
  }
  ASSIGN_OR_RETURN(RemoteDriven driven, DriveServer(site_, facts_.manner, LoadOf(cell), count_, watch));
  const bool gave_up = driven.gave_up;
  Keep(cell, std::move(driven), run);
  const bool dead = gave_up && std::none_of(run.requests.begin(), run.requests.end(), [](const RequestRun& request) {
                      return request.completion.has_value();
                    });
  dead_cells_ = dead ? dead_cells_ + 1 : 0;
  if (dead_cells_ >= kDeadCellsMax)
    return Error{ErrorCode::kIo, "the server stopped answering: " + run.requests.front().error};
  return run;
}

void RemoteAnswerer::Keep(const Cell& cell, RemoteDriven driven, CellRun& run) {
  run.company_started = driven.company_started;
  run.outside->company_answered = driven.company_answered;
  run.outside->running_counted_max = driven.running_counted_max;
  run.outside->counts_taken = driven.counts_taken;
  for (size_t i = 0; i < driven.results.size(); ++i) {
    RemoteResult& result = driven.results[i];
    RequestRun& request = run.requests.emplace_back();
    request.is_text = facts_.identity == Identity::kText;
    request.error = result.error;
    if (!result.told) continue;
    request.seconds = static_cast<double>(result.told->ended_ns - result.told->began_ns) * 1e-9;
    const std::string other = OtherMaker(result.told->answer, RequestOf(cell.requests[i]));
    if (!other.empty()) run.outside->other_maker = other;
    auto completion = maker_.Make(result.told->answer, RequestOf(cell.requests[i]));
    if (!completion.ok()) {
      request.error = completion.error().message;
      continue;
    }
    cached_tokens_ += completion->trace.cached_prompt_tokens;
    completion->trace.sequences_in_step_max = result.together_max;
    request.completion = std::move(*completion);
    if (cell.in_flight == 1 && cell.where == Where::kHere) NoteSpeed(cell.requests[i], request.seconds);
  }
}

std::string RemoteAnswerer::OtherMaker(const WireAnswer& answer, const WireRequest& request) {
  const auto other = [](const std::string& before, const std::string& now) {
    return "the fingerprint went from \"" + ErrorSentence(before) + "\" to \"" + ErrorSentence(now) +
           "\": something else answered";
  };
  if (answer.maker != facts_.maker) return other(facts_.maker, answer.maker);
  WireRequest parameters = request;
  parameters.messages.clear();
  parameters.streamed = false;
  const auto known = fingerprints_.emplace(WireRequestJson(parameters, facts_.manner), answer.fingerprint).first;
  return known->second == answer.fingerprint ? "" : other(known->second, answer.fingerprint);
}

void RemoteAnswerer::NoteSpeed(const CellRequest& request, double seconds) {
  const auto first = first_seconds_.find({request.prompt, request.sampling, 0});
  if (first == first_seconds_.end() || request.samples > 1) return;
  const double expected = first->second * request.tokens_max;
  if (expected < kFastSecondsMin) return;
  ++repeats_;
  fast_repeats_ += seconds < expected * kFastShare;
}

Status RemoteAnswerer::RestartServer(const Watcher& watch, SeenFromOutside& seen) {
  if (!restart_) return Error{ErrorCode::kInternal, "no command to restart the server was given"};
  const auto old_connection = Connect(site_, /*reconnect=*/false);
  const std::string path = site_.root() + "/v1/models";
  RETURN_IF_ERROR(GetText(*old_connection, site_, path));
  RETURN_IF_ERROR(restart_());
  seen.old_connection_broke = !GetText(*old_connection, site_, path).ok();
  const uint64_t limit_ns = site_.clock->monotonic_ns() + kRestartSecondsMax * 1'000'000'000;
  while (true) {
    const auto answer = GetText(*Connect(site_), site_, path);
    if (answer.ok()) return {};
    if (!watch(0)) return Error{ErrorCode::kCancelled, "replay was cancelled"};
    if (site_.clock->monotonic_ns() > limit_ns)
      return Error{ErrorCode::kIo, "after the restart command, no answer for " + std::to_string(kRestartSecondsMax) +
                                       " s: " + answer.error().message};
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

Evidence RemoteAnswerer::EvidenceFor(const Cell& cell, const CellRun& run) const {
  return RemoteEvidenceOf(cell, run, facts_);
}

std::vector<std::string> RemoteAnswerer::Suspicions() const {
  std::vector<std::string> all;
  if (fast_repeats_ * 2 > repeats_)
    all.push_back(std::to_string(fast_repeats_) + " of " + std::to_string(repeats_) +
                  " repeated answers took less than a quarter of their first call's time: the server, or something "
                  "before it, may keep answers, and a kept answer shows nothing of the model");
  if (cached_tokens_ > 0)
    all.push_back("the server took " + std::to_string(cached_tokens_) +
                  " prompt tokens from its prefix cache: first calls and repeats did not do the same work");
  return all;
}

}  // namespace samebit::verify
