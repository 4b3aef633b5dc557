// Turns engine steps into progress calls, and the cancel flag into an end. Internal to replay.
#pragma once

#include <cstdint>
#include <string>

#include "verify/replay.h"

namespace samebit::verify {

class ProgressMeter {
 public:
  ProgressMeter(const ReplayHooks& hooks, uint32_t cell_count, uint64_t tokens_total);

  // `what` begins and is expected to take so many tokens.
  void Begin(std::string what, uint32_t cell_index, uint64_t tokens);
  // After an engine step; rows: what the current engine has computed. False: cancelled.
  bool Step(uint64_t rows);
  // The current thing is done; its tokens count as done whatever the engine computed.
  void End(const Verdict* verdict);

  bool cancelled() const { return hooks_.cancelled != nullptr && hooks_.cancelled->load(); }
  double seconds() const;

 private:
  void Report(uint64_t tokens_done, const Verdict* verdict) const;

  const ReplayHooks& hooks_;
  uint64_t started_ns_;
  uint32_t cell_count_;
  uint64_t tokens_total_;
  uint64_t tokens_before_ = 0;
  uint64_t tokens_of_current_ = 0;
  uint32_t cell_index_ = 0;
  std::string what_;
};

}  // namespace samebit::verify
