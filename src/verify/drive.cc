#include "verify/drive.h"

#include <algorithm>
#include <map>
#include <utility>

namespace samebit::verify {
namespace {

// Steps for which the batch is still filled up after the last compared request came: the first takes it in, and one
// more for an engine that takes new requests in at the end of a step.
constexpr uint32_t kTailSteps = 2;

class Drive {
 public:
  Drive(engine::Engine& engine, Load load) : engine_(engine), load_(std::move(load)) {
    driven_.requests.resize(load_.requests.size());
  }

  Result<Driven> Run(const std::function<bool()>& after_step) {
    while (answered_ < load_.requests.size()) {
      Fill();
      if (answered_ == load_.requests.size()) break;  // the rest was refused
      const bool worked = engine_.Step();
      if (next_ == load_.requests.size()) ++steps_after_last_;
      const size_t answered_before = answered_;
      Collect();
      if (after_step && !after_step()) return Error{ErrorCode::kCancelled, "replay was cancelled"};
      if (!worked && answered_ == answered_before)
        return Error{ErrorCode::kInternal, "the engine stopped with " + std::to_string(running_.size()) +
                                               " requests unanswered"};
    }
    DismissCompany();
    return std::move(driven_);
  }

 private:
  bool all_submitted() const { return next_ == load_.requests.size(); }
  size_t in_flight() const { return running_.size() + company_.size(); }

  void Fill() {
    while (load_.company && company_.size() < load_.company_min) AddCompany();
    const uint32_t places = load_.in_flight - std::min(load_.company_min, load_.in_flight - 1);
    while (!all_submitted() && running_.size() < places && in_flight() < load_.in_flight) SubmitNext();
    while (load_.company && (!all_submitted() || steps_after_last_ < kTailSteps) && in_flight() < load_.in_flight)
      AddCompany();
  }

  void SubmitNext() {
    if (load_.drop_prefixes) engine_.DropPrefixCache();
    const size_t index = next_++;
    auto id = engine_.Submit(load_.requests[index]);
    if (id.ok()) {
      running_[*id] = index;
    } else {
      driven_.requests[index].error = id.error().message;
      ++answered_;
    }
  }

  void AddCompany() {
    auto id = engine_.Submit(load_.company(static_cast<uint32_t>(driven_.company_started)));
    ++driven_.company_started;
    if (!id.ok()) {
      load_.company = nullptr;  // the evidence will say that company was missing
      return;
    }
    company_.push_back(*id);
  }

  void Collect() {
    for (auto entry = running_.begin(); entry != running_.end();) {
      auto answer = engine_.Take(entry->first);
      if (!answer) {
        ++entry;
        continue;
      }
      RequestRun& run = driven_.requests[entry->second];
      if (answer->ok()) run.completion = std::move(*answer).value();
      else run.error = answer->error().message;
      ++answered_;
      entry = running_.erase(entry);
    }
    std::erase_if(company_, [&](engine::RequestId id) { return engine_.Take(id).has_value(); });
  }

  void DismissCompany() {
    for (engine::RequestId id : company_) engine_.Cancel(id);
    while (!company_.empty() && engine_.Step()) Collect();
    Collect();
  }

  engine::Engine& engine_;
  Load load_;
  Driven driven_;
  std::map<engine::RequestId, size_t> running_;
  std::vector<engine::RequestId> company_;
  size_t next_ = 0;
  size_t answered_ = 0;
  uint32_t steps_after_last_ = 0;
};

}  // namespace

Result<Driven> DriveEngine(engine::Engine& engine, Load load, const std::function<bool()>& after_step) {
  return Drive(engine, std::move(load)).Run(after_step);
}

}  // namespace samebit::verify
