// Gives libFuzzer a good file to start from: an input that is too short to be anything is replaced by the seed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);

namespace samebit::test {

inline size_t MutateFromSeed(const std::string& seed, uint8_t* data, size_t size, size_t size_max) {
  if (size < 16 && seed.size() <= size_max) {
    std::memcpy(data, seed.data(), seed.size());
    return seed.size();
  }
  return LLVMFuzzerMutate(data, size, size_max);
}

}  // namespace samebit::test
