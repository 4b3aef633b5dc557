// What the start-up self-test runs: each function of a table on fixed inputs, and the same by arith.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"

namespace samebit::kernels {

// The bytes that an operation produced, in a fixed order.
class Outcome {
 public:
  void Append(const void* data, size_t data_bytes);
  template <class T>
  void AppendAll(const std::vector<T>& values) { Append(values.data(), values.size() * sizeof(T)); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

struct SelfTestOperation {
  const char* name;
  void (*run)(const KernelTable& table, Outcome* outcome);
  void (*run_by_law)(Outcome* outcome);
};

// In the order of the digest; frozen for samebit-arith/1.
std::span<const SelfTestOperation> SelfTestOperations();
// What sentence encoders use beside them, with a digest of their own: the first one is in the fingerprints of decoders,
// and a new kind of model must not change what those say.
std::span<const SelfTestOperation> EncoderSelfTestOperations();

}  // namespace samebit::kernels
