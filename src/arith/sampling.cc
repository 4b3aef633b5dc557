#include "arith/sampling.h"

namespace samebit::arith {

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

uint64_t RandomBits(uint64_t seed, uint64_t sample_index, uint32_t position, RandomStream stream) {
  const auto words = Philox({position, static_cast<uint32_t>(stream), static_cast<uint32_t>(sample_index),
                             static_cast<uint32_t>(sample_index >> 32)},
                            {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return (uint64_t{words[1]} << 32) | words[0];
}

uint64_t SeedOfAttempt(uint64_t seed, uint32_t attempt) {
  if (attempt == 0) return seed;
  const auto words =
      Philox({attempt, 0xA77E3F70u, 0, 0}, {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return (uint64_t{words[1]} << 32) | words[0];
}

}  // namespace samebit::arith
