// Any bytes as a GGUF file: an error or a model, nothing else.
#include <cstdlib>

#include "fuzz/seeded_mutator.h"
#include "model/gguf_model.h"
#include "model/weights_finite.h"
#include "support/tiny_gguf.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned) {
  static const std::string seed = samebit::test::TinyLlama().Finish();
  return samebit::test::MutateFromSeed(seed, data, size, size_max);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace samebit;
  const auto file = model::ReadGguf({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (!file.ok()) return 0;
  // Whatever was accepted must be readable to its last byte.
  for (const model::Tensor& tensor : file->tensors) model::FirstNonFinite(tensor);
  const auto parts = model::ReadGgufModel(*file);
  if (!parts.ok()) return 0;
  for (uint32_t layer = 0; layer < parts->config.layers; ++layer) {
    if (parts->roles.Find(file->tensors, model::Role::kQuery, layer) == nullptr) std::abort();
  }
  return 0;
}
