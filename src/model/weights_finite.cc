#include "model/weights_finite.h"

#include <cstddef>
#include <cstring>

#include "model/tensor_roles.h"

namespace samebit::model {
namespace {

using arith::WeightType;

// An exponent of all ones means NaN or infinity in every IEEE format. Bytes are copied out: blocks of 18, 22 or 210
// bytes leave their f16 fields on odd boundaries.
template <class Bits, Bits kExponent>
bool NonFiniteAt(const std::byte* bytes) {
  Bits bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return (bits & kExponent) == kExponent;
}

// First block that holds a non-finite value at one of the given offsets. The inner loop has no early exit, so that the
// compiler can keep memory busy; only the rare bad tensor is walked a second time.
template <class Bits, Bits kExponent, size_t kStride, size_t... kOffsets>
std::optional<uint64_t> FirstBadBlock(std::span<const std::byte> bytes) {
  const uint64_t blocks = bytes.size() / kStride;
  const std::byte* data = bytes.data();
  bool bad = false;
  for (uint64_t i = 0; i < blocks; ++i) {
    bad |= (NonFiniteAt<Bits, kExponent>(data + i * kStride + kOffsets) || ...);
  }
  if (!bad) return std::nullopt;
  uint64_t first = 0;
  while (!(NonFiniteAt<Bits, kExponent>(data + first * kStride + kOffsets) || ...)) ++first;
  return first;
}

template <size_t kStride, size_t... kOffsets>
std::optional<uint64_t> FirstBadHalf(std::span<const std::byte> bytes) {
  return FirstBadBlock<uint16_t, 0x7c00, kStride, kOffsets...>(bytes);
}

std::optional<uint64_t> FirstBadBlockOf(const Tensor& tensor) {
  using namespace arith;
  const std::span<const std::byte> bytes = tensor.bytes;
  switch (tensor.type) {
    case WeightType::kF32: return FirstBadBlock<uint32_t, 0x7f800000, 4, 0>(bytes);
    case WeightType::kBf16: return FirstBadBlock<uint16_t, 0x7f80, 2, 0>(bytes);
    case WeightType::kF16: return FirstBadHalf<2, 0>(bytes);
    case WeightType::kQ4_0: return FirstBadHalf<sizeof(BlockQ4_0), offsetof(BlockQ4_0, d)>(bytes);
    case WeightType::kQ5_0: return FirstBadHalf<sizeof(BlockQ5_0), offsetof(BlockQ5_0, d)>(bytes);
    case WeightType::kQ8_0: return FirstBadHalf<sizeof(BlockQ8_0), offsetof(BlockQ8_0, d)>(bytes);
    case WeightType::kQ6_K: return FirstBadHalf<sizeof(BlockQ6_K), offsetof(BlockQ6_K, d)>(bytes);
    case WeightType::kQ4_1:
      return FirstBadHalf<sizeof(BlockQ4_1), offsetof(BlockQ4_1, d), offsetof(BlockQ4_1, m)>(bytes);
    case WeightType::kQ5_1:
      return FirstBadHalf<sizeof(BlockQ5_1), offsetof(BlockQ5_1, d), offsetof(BlockQ5_1, m)>(bytes);
    case WeightType::kQ4_K:
      return FirstBadHalf<sizeof(BlockQ4_K), offsetof(BlockQ4_K, d), offsetof(BlockQ4_K, dmin)>(bytes);
    case WeightType::kQ5_K:
      return FirstBadHalf<sizeof(BlockQ5_K), offsetof(BlockQ5_K, d), offsetof(BlockQ5_K, dmin)>(bytes);
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> FirstNonFinite(const Tensor& tensor) {
  const std::optional<uint64_t> block = FirstBadBlockOf(tensor);
  if (!block) return std::nullopt;
  return *block * arith::Format(tensor.type).block_elements;
}

Status CheckWeightsFinite(const Model& model) {
  for (const Tensor& tensor : model.tensors()) RETURN_IF_ERROR(CheckVectorFinite(tensor, model.path()));
  return {};
}

}  // namespace samebit::model
