#include "arith/environment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arith/test_support.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace samebit::arith {
namespace {

using testing::kThinning;
using testing::Random;

bool SameNumber(float a, float b) { return BitsOf(a) == BitsOf(b) || (std::isnan(a) && std::isnan(b)); }

void ExpectSoftEqualsFma(float a, float b, float c) {
  const float expected = std::fma(a, b, c);
  ASSERT_TRUE(SameNumber(SoftFma(a, b, c), expected))
      << std::hexfloat << a << " " << b << " " << c << " " << SoftFma(a, b, c) << " " << expected;
  ASSERT_TRUE(SameNumber(Fma(a, b, c), expected));
}

TEST(Environment, holds_in_a_fresh_thread) { EXPECT_TRUE(FloatEnvironmentHolds()); }

#if defined(__x86_64__)
// Every wrong setting is noticed and repaired: a negative control of the check itself.
TEST(Environment, a_wrong_setting_is_noticed_and_entering_repairs_it) {
  const uint32_t flush_to_zero = 0x8000, denormals_are_zero = 0x40, down = 0x2000, up = 0x4000, to_zero = 0x6000;
  for (uint32_t bits : {flush_to_zero, denormals_are_zero, flush_to_zero | denormals_are_zero, down, up, to_zero}) {
    _mm_setcsr(0x1f80 | bits);
    const bool held = FloatEnvironmentHolds();
    EnterFloatEnvironment();
    EXPECT_FALSE(held) << std::hex << bits;
    EXPECT_TRUE(FloatEnvironmentHolds());
  }
}
#endif

TEST(Environment, fused_and_unfused_differ_on_the_published_triple) {
  const float x = 1.0f + 0x1p-12f, y = -(1.0f + 0x1p-11f);
  EXPECT_EQ(Fma(x, x, y), 0x1p-24f);
  EXPECT_EQ(SoftFma(x, x, y), 0x1p-24f);
  volatile float product = x * x;
  EXPECT_EQ(product + y, 0.0f);
}

TEST(Environment, max_takes_the_second_of_equals_and_of_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Max(1.0f, 2.0f), 2.0f);
  EXPECT_EQ(Max(2.0f, 1.0f), 2.0f);
  EXPECT_EQ(BitsOf(Max(0.0f, -0.0f)), BitsOf(-0.0f));
  EXPECT_EQ(BitsOf(Max(-0.0f, 0.0f)), BitsOf(0.0f));
  EXPECT_EQ(Max(nan, 1.0f), 1.0f);
  EXPECT_TRUE(std::isnan(Max(1.0f, nan)));
}

TEST(SoftFma, equals_the_library_on_random_bit_patterns) {
  Random random(1);
  for (uint64_t i = 0; i < 8'000'000 / kThinning; ++i)
    ExpectSoftEqualsFma(FloatOf(random.Bits32()), FloatOf(random.Bits32()), FloatOf(random.Bits32()));
}

TEST(SoftFma, equals_the_library_where_the_addend_is_near_the_product) {
  Random random(2);
  for (uint64_t i = 0; i < 6'000'000 / kThinning; ++i) {
    const float a = FloatOf(random.Bits32()), b = FloatOf(random.Bits32());
    // Within 30 binades of the product, either sign, so that cancellation and long carries happen.
    const float c = std::ldexp(-a * b, static_cast<int>(random.Below(61)) - 30);
    ExpectSoftEqualsFma(a, b, FloatOf(BitsOf(c) ^ (random.Bits32() & 0x8000000f)));
  }
}

TEST(SoftFma, equals_the_library_where_the_result_is_subnormal) {
  Random random(3);
  for (uint64_t i = 0; i < 4'000'000 / kThinning; ++i) {
    const int exponent = static_cast<int>(random.Below(100));
    const float a = std::ldexp(random.Signed(), -exponent), b = std::ldexp(random.Signed(), exponent - 126 - 12);
    ExpectSoftEqualsFma(a, b, FloatOf((random.Bits32() & 0x80ffffff)));
    ExpectSoftEqualsFma(a, b, FloatOf((random.Bits32() & 0x80000007)));
  }
}

TEST(SoftFma, equals_the_library_at_halfway_cases_and_one_unit_beside_them) {
  Random random(4);
  for (uint64_t i = 0; i < 4'000'000 / kThinning; ++i) {
    // c has 24 bits; a*b is half a unit of c, or that plus or minus one part in 2^24 or so.
    const float c = FloatOf(0x3f800000u | (random.Bits32() & 0x807fffffu));
    const float a = FloatOf(0x3f800000u + random.Below(3) - 1);
    const float b = std::ldexp(1.0f, -24 - static_cast<int>(random.Below(3)));
    ExpectSoftEqualsFma(a, random.Below(2) ? b : -b, c);
  }
}

TEST(SoftFma, equals_the_library_on_every_triple_of_special_values) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float largest = std::numeric_limits<float>::max();
  const float values[] = {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, 0x1p-126f, FloatOf(0x007fffff), 0x1p-75f, -0x1p-74f, 1.0f,
                          -1.0f, 1.0f + 0x1p-23f, 0x1p64f, -0x1p64f, largest, -largest, inf, -inf, nan};
  for (float a : values)
    for (float b : values)
      for (float c : values) ExpectSoftEqualsFma(a, b, c);
}

}  // namespace
}  // namespace samebit::arith
