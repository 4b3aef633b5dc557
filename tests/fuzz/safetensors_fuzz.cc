// Any bytes as a safetensors file: an error or tensors that lie inside it, nothing else.
#include <cstdlib>

#include "fuzz/seeded_mutator.h"
#include "model/safetensors_reader.h"
#include "model/weights_finite.h"
#include "support/tiny_hf.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned) {
  static const std::string seed = samebit::test::SafetensorsFile({{"a", "F32", "[2,3]", std::string(24, '\1')},
                                                                  {"b", "BF16", "[4]", std::string(8, '\2')},
                                                                  {"c", "F16", "[1,2,2]", std::string(8, '\3')}});
  return samebit::test::MutateFromSeed(seed, data, size, size_max);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace samebit;
  const auto tensors = model::ReadSafetensors({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (!tensors.ok()) return 0;
  for (const model::Tensor& tensor : *tensors) {
    if (tensor.bytes.size() != tensor.rows * tensor.columns * arith::Format(tensor.type).block_bytes) std::abort();
    model::FirstNonFinite(tensor);
  }
  return 0;
}
