// Randomness from outside: only for the seed of a request that brought none. The seed is reported, so the answer can
// be replayed; nothing else may draw from here.
#pragma once

#include <atomic>
#include <cstdint>

namespace samebit::world {

class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual uint64_t Seed() = 0;  // 64 random bits
};

// The operating system's generator. Any thread.
class RealEntropy final : public Entropy {
 public:
  uint64_t Seed() override;
};

// Counts up from a start value. Any thread.
class FakeEntropy final : public Entropy {
 public:
  explicit FakeEntropy(uint64_t first) : next_(first) {}
  uint64_t Seed() override { return next_++; }

 private:
  std::atomic<uint64_t> next_;
};

}  // namespace samebit::world
