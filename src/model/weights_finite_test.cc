#include "model/weights_finite.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "model/describe.h"

namespace samebit::model {
namespace {

using arith::WeightType;

// Three blocks of zeros, with one 16- or 32-bit field set in the second block.
std::optional<uint64_t> Find(WeightType type, size_t field_offset, uint32_t field, size_t field_bytes) {
  const arith::WeightFormat& format = arith::Format(type);
  std::vector<std::byte> bytes(3 * format.block_bytes);
  std::memcpy(bytes.data() + format.block_bytes + field_offset, &field, field_bytes);
  Tensor tensor;
  tensor.type = type;
  tensor.rows = 1;
  tensor.columns = 3 * format.block_elements;
  tensor.bytes = bytes;
  return FirstNonFinite(tensor);
}

TEST(WeightsFinite, finds_nan_and_infinity_in_every_scale_and_minimum) {
  using namespace arith;
  const std::pair<WeightType, size_t> fields[] = {
      {WeightType::kF16, 0},
      {WeightType::kQ4_0, offsetof(BlockQ4_0, d)},   {WeightType::kQ4_1, offsetof(BlockQ4_1, d)},
      {WeightType::kQ4_1, offsetof(BlockQ4_1, m)},   {WeightType::kQ5_0, offsetof(BlockQ5_0, d)},
      {WeightType::kQ5_1, offsetof(BlockQ5_1, d)},   {WeightType::kQ5_1, offsetof(BlockQ5_1, m)},
      {WeightType::kQ8_0, offsetof(BlockQ8_0, d)},   {WeightType::kQ4_K, offsetof(BlockQ4_K, d)},
      {WeightType::kQ4_K, offsetof(BlockQ4_K, dmin)}, {WeightType::kQ5_K, offsetof(BlockQ5_K, d)},
      {WeightType::kQ5_K, offsetof(BlockQ5_K, dmin)}, {WeightType::kQ6_K, offsetof(BlockQ6_K, d)}};
  for (const auto& [type, offset] : fields) {
    const uint64_t second_block = Format(type).block_elements;
    for (const uint32_t bad : {0x7c00u, 0xfc00u, 0x7e00u, 0x7c01u}) {
      EXPECT_EQ(Find(type, offset, bad, 2), second_block) << Format(type).name << " " << bad;
    }
    for (const uint32_t good : {0x7bffu, 0xfbffu, 0x0001u, 0x3c00u}) {
      EXPECT_EQ(Find(type, offset, good, 2), std::nullopt) << Format(type).name << " " << good;
    }
  }
  EXPECT_EQ(Find(WeightType::kF32, 0, 0x7fc00000u, 4), 1u);
  EXPECT_EQ(Find(WeightType::kF32, 0, 0xff800000u, 4), 1u);
  EXPECT_EQ(Find(WeightType::kF32, 0, 0x7f7fffffu, 4), std::nullopt);
  EXPECT_EQ(Find(WeightType::kBf16, 0, 0x7f80u, 2), 1u);
  EXPECT_EQ(Find(WeightType::kBf16, 0, 0x7f7fu, 2), std::nullopt);
}

TEST(WeightsFinite, codes_of_a_block_are_no_numbers) {
  // All ones in a code is not an infinity.
  EXPECT_EQ(Find(WeightType::kQ8_0, offsetof(arith::BlockQ8_0, codes), 0xffff, 2), std::nullopt);
  EXPECT_EQ(Find(WeightType::kQ6_K, offsetof(arith::BlockQ6_K, low), 0xffff, 2), std::nullopt);
}

TEST(Describe, makes_a_strangers_name_safe_and_short) {
  EXPECT_EQ(Printable("a b"), "'a b'");
  EXPECT_EQ(Printable("\n\x80"), "'\\x0a\\x80'");
  EXPECT_EQ(Printable(std::string(81, 'x')), "'" + std::string(80, 'x') + "...'");
  EXPECT_EQ(FileError(ErrorCode::kMalformed, "f", AtByte(7), "a", "b").message, "f: byte 7: expected a, found b");
}

}  // namespace
}  // namespace samebit::model
