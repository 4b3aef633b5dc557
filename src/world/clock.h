// Time, as a thing that is handed in: whoever needs it takes a Clock&, so that a test can own it.
// No result of the engine may depend on a Clock.
#pragma once

#include <atomic>
#include <cstdint>

namespace samebit::world {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual uint64_t monotonic_ns() const = 0;  // never goes back; its zero means nothing
  virtual int64_t unix_ns() const = 0;        // since 1970-01-01 UTC; may be set back by the operator
};

// The operating system's clocks. Any thread.
class RealClock final : public Clock {
 public:
  uint64_t monotonic_ns() const override;
  int64_t unix_ns() const override;
};

// Stands still until it is moved. Any thread.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(int64_t unix_ns) : unix_start_ns_(unix_ns) {}
  uint64_t monotonic_ns() const override { return passed_ns_; }
  int64_t unix_ns() const override { return unix_start_ns_ + static_cast<int64_t>(passed_ns_); }
  void Advance(uint64_t ns) { passed_ns_ += ns; }

 private:
  const int64_t unix_start_ns_;
  std::atomic<uint64_t> passed_ns_ = 0;
};

}  // namespace samebit::world
