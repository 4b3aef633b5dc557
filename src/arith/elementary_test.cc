#include "arith/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arith/test_support.h"

namespace samebit::arith {
namespace {

using testing::kThinning;
using testing::Random;
using testing::UlpError;

void Raise(double* worst, double value) { *worst = std::max(*worst, value); }

// Every step-th binary32 value from `low` to `high` bits of a non-negative number. The complete ranges are measured by
// tests/golden/function_error; the bounds below are those of the complete ranges.
template <class Visit>
void ForMagnitudes(float low, float high, uint32_t step, Visit visit) {
  for (uint64_t bits = BitsOf(low); bits <= BitsOf(high); bits += step * kThinning)
    visit(FloatOf(static_cast<uint32_t>(bits)));
  visit(high);
}

TEST(ExpNeg, error_is_under_the_stated_bound_over_its_range) {
  double worst = 0;
  ForMagnitudes(0x1p-30f, 87.29999f, 101, [&](float x) { Raise(&worst, UlpError(ExpNeg(-x), std::exp(-double{x}))); });
  EXPECT_LT(worst, kExpErrorUlp);
  EXPECT_GT(worst, 0.5);  // the measurement itself works
}

TEST(ExpNeg, is_exactly_one_at_zero_and_zero_below_its_range_and_for_nan) {
  EXPECT_EQ(ExpNeg(0.0f), 1.0f);
  EXPECT_EQ(ExpNeg(-0.0f), 1.0f);
  EXPECT_EQ(ExpNeg(-0x1p-149f), 1.0f);
  EXPECT_GT(ExpNeg(std::nextafter(exp_constants::kNegMin, 0.0f)), 0x1p-126f);
  for (float x : {exp_constants::kNegMin, -88.0f, -1e30f, -std::numeric_limits<float>::infinity(),
                  std::numeric_limits<float>::quiet_NaN()})
    EXPECT_EQ(BitsOf(ExpNeg(x)), 0u) << x;
}

TEST(ExpNeg, never_exceeds_one) {
  ForMagnitudes(0.0f, 1.0f, 61, [](float x) { ASSERT_LE(ExpNeg(-x), 1.0f); });
}

TEST(ExpNeg, equals_exp_bit_for_bit_in_its_range) {
  ForMagnitudes(0.0f, 87.29999f, 1009, [](float x) { ASSERT_EQ(BitsOf(ExpNeg(-x)), BitsOf(Exp(-x))) << x; });
}

TEST(Exp, error_is_under_the_stated_bound_where_the_result_is_normal) {
  double worst = 0;
  ForMagnitudes(0x1p-30f, 88.72283f, 211, [&](float x) { Raise(&worst, UlpError(Exp(x), std::exp(double{x}))); });
  ForMagnitudes(0x1p-30f, 87.33654f, 211, [&](float x) { Raise(&worst, UlpError(Exp(-x), std::exp(-double{x}))); });
  EXPECT_LT(worst, kExpErrorUlp);
}

TEST(Exp, underflows_gradually_and_overflows_to_infinity) {
  double worst = 0;
  ForMagnitudes(87.33655f, 104.0f, 3, [&](float x) { Raise(&worst, UlpError(Exp(-x), std::exp(-double{x}))); });
  EXPECT_LT(worst, kExpErrorUlp);  // in units of 2^-149
  EXPECT_GT(Exp(-103.9f), 0.0f);
  EXPECT_EQ(Exp(-104.0f), 0.0f);
  EXPECT_EQ(Exp(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_TRUE(std::isfinite(Exp(88.72283f)));
  EXPECT_TRUE(std::isinf(Exp(88.73f)));
  EXPECT_TRUE(std::isinf(Exp(std::numeric_limits<float>::infinity())));
  EXPECT_EQ(Exp(0.0f), 1.0f);
}

// function_error visits every neighbour of the range; here it is runs of 16 neighbours.
TEST(ExpNeg, never_steps_back) {
  for (uint32_t bits = BitsOf(-87.0f); bits > BitsOf(-0x1p-20f); bits -= 997 * kThinning)
    for (uint32_t i = 0; i < 16; ++i) ASSERT_LE(ExpNeg(FloatOf(bits - i)), ExpNeg(FloatOf(bits - i - 1)));
}

double SiluExact(double x) { return x / (1 + std::exp(-x)); }
double GeluExact(double x) {
  const double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * u));
}

TEST(Silu, error_is_under_the_stated_bound) {
  double worst = 0;
  ForMagnitudes(0x1p-30f, 80.0f, 211, [&](float x) {
    Raise(&worst, UlpError(Silu(x), SiluExact(x)));
    Raise(&worst, UlpError(Silu(-x), SiluExact(-double{x})));
  });
  EXPECT_LT(worst, kSiluErrorUlp);
}

TEST(Silu, has_the_right_limits) {
  EXPECT_EQ(Silu(0.0f), 0.0f);
  EXPECT_EQ(Silu(200.0f), 200.0f);
  EXPECT_EQ(Silu(-200.0f), 0.0f);
  EXPECT_EQ(Silu(std::numeric_limits<float>::max()), std::numeric_limits<float>::max());
}

TEST(GeluTanh, error_is_under_the_stated_bounds) {
  double positive = 0, near = 0, tail = 0;
  ForMagnitudes(0x1p-30f, 20.0f, 211, [&](float x) { Raise(&positive, UlpError(GeluTanh(x), GeluExact(x))); });
  ForMagnitudes(0x1p-30f, 3.0f, 211, [&](float x) { Raise(&near, UlpError(GeluTanh(-x), GeluExact(-double{x}))); });
  ForMagnitudes(3.0f, 8.0f, 11, [&](float x) { Raise(&tail, UlpError(GeluTanh(-x), GeluExact(-double{x}))); });
  EXPECT_LT(positive, kGeluPositiveErrorUlp);
  EXPECT_LT(near, kGeluNegativeErrorUlp);
  EXPECT_LT(tail, kGeluTailErrorUlp);
}

TEST(GeluTanh, has_the_right_limits) {
  EXPECT_EQ(GeluTanh(0.0f), 0.0f);
  EXPECT_EQ(GeluTanh(50.0f), 50.0f);
  EXPECT_EQ(GeluTanh(-50.0f), 0.0f);
  EXPECT_EQ(GeluTanh(1e30f), 1e30f);
  EXPECT_EQ(GeluTanh(-1e30f), 0.0f);
}

double GeluErfExact(double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }

TEST(GeluErf, error_is_under_the_stated_bounds) {
  double positive = 0, negative = 0;
  ForMagnitudes(0x1p-30f, 20.0f, 211, [&](float x) { Raise(&positive, UlpError(GeluErf(x), GeluErfExact(x))); });
  // Down to -12.8 the result is a normal number.
  ForMagnitudes(0x1p-30f, 12.8f, 211,
                [&](float x) { Raise(&negative, UlpError(GeluErf(-x), GeluErfExact(-double{x}))); });
  EXPECT_LT(positive, kGeluErfPositiveErrorUlp);
  EXPECT_LT(negative, kGeluErfNegativeErrorUlp);
}

TEST(GeluErf, has_the_right_limits) {
  EXPECT_EQ(NormalTail(0.0f), 0.5f);
  EXPECT_EQ(NormalTail(15.0f), 0.0f);
  EXPECT_EQ(GeluErf(0.0f), 0.0f);
  EXPECT_EQ(GeluErf(50.0f), 50.0f);
  EXPECT_EQ(GeluErf(-50.0f), 0.0f);
  EXPECT_EQ(GeluErf(1e30f), 1e30f);
  EXPECT_EQ(GeluErf(-1e30f), 0.0f);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()})
    EXPECT_FALSE(std::isfinite(GeluErf(bad)));
}

TEST(GeluErf, differs_from_the_tanh_form) {
  EXPECT_NEAR(GeluErf(2.0f) - GeluTanh(2.0f), 1.9544997 - 1.9545977, 1e-6);
}

// Relative to the result's own binade, in units of 2^-53.
double Error64(double got, long double exact) {
  return static_cast<double>(std::fabs(got - exact) / std::ldexp(1.0L, std::ilogb(exact) - 53));
}

TEST(Exp64, error_is_under_the_stated_bound) {
  Random random(16);
  double worst = 0;
  for (uint64_t i = 0; i < 1'000'000 / kThinning; ++i) {
    const double x = static_cast<double>(static_cast<int64_t>(random.Bits64())) * 0x1p-63 * (i % 2 ? 700 : 20);
    Raise(&worst, Error64(Exp64(x), std::exp(static_cast<long double>(x))));
  }
  EXPECT_LT(worst, kError64Units);
  EXPECT_EQ(Exp64(0.0), 1.0);
}

TEST(Log64, error_is_under_the_stated_bound) {
  Random random(17);
  double worst = 0;
  for (uint64_t i = 0; i < 1'000'000 / kThinning; ++i) {
    const uint64_t bits = random.Bits64() & 0x000fffffffffffffull;
    const uint64_t exponent = i % 2 ? 1023 + random.Below(20) : 1 + random.Below(2046);
    const double x = std::bit_cast<double>(bits | exponent << 52);
    Raise(&worst, Error64(Log64(x), std::log(static_cast<long double>(x))));
  }
  for (double near = 0x1p-50; near < 0.5; near *= 1.37)
    for (double x : {1 + near, 1 - near}) Raise(&worst, Error64(Log64(x), std::log(static_cast<long double>(x))));
  EXPECT_LT(worst, kError64Units);
  EXPECT_EQ(Log64(1.0), 0.0);
}

// Absolute, in units of 2^-53, as cos and sin are rounded to binary32 of magnitude up to 1; and the rounded value
// itself against the library's.
TEST(SinCos64, error_is_under_the_stated_bound_up_to_2_to_the_20) {
  Random random(18);
  double worst = 0;
  const auto visit = [&](double x) {
    double sine, cosine;
    SinCos64(x, &sine, &cosine);
    const long double wide = x;
    Raise(&worst, static_cast<double>(std::fabs(sine - std::sin(wide))) * 0x1p53);
    Raise(&worst, static_cast<double>(std::fabs(cosine - std::cos(wide))) * 0x1p53);
  };
  for (uint64_t i = 0; i < 1'000'000 / kThinning; ++i) {
    visit(static_cast<double>(FloatOf(random.Below(0x49800001))));                  // any magnitude up to 2^20
    visit(static_cast<double>(random.Below(1 << 20) + 0.5f * random.Signed()));     // uniform
  }
  // Near multiples of pi/2 the subtraction cancels most.
  for (uint64_t n = 1; n < 660'000; n += 7 * kThinning)
    visit(static_cast<double>(static_cast<float>(n * 1.5707963267948966)));
  visit(0x1p20);
  EXPECT_LT(worst, kSinCosErrorUnits);
}

TEST(SinCos64, quadrants_and_zero) {
  double sine, cosine;
  SinCos64(0.0, &sine, &cosine);
  EXPECT_EQ(sine, 0.0);
  EXPECT_EQ(cosine, 1.0);
  for (int n = -8; n <= 8; ++n) {
    SinCos64(n * 1.5707963267948966, &sine, &cosine);
    const double expected_sine[] = {0, 1, 0, -1}, expected_cosine[] = {1, 0, -1, 0};
    EXPECT_NEAR(sine, expected_sine[n & 3], 2e-15);
    EXPECT_NEAR(cosine, expected_cosine[n & 3], 2e-15);
  }
}

// A hostile file can ask for them. The sanitizers see that nothing is undefined; infinity and NaN stay visible.
TEST(Binary64, wild_arguments_are_harmless) {
  const double inf = std::numeric_limits<double>::infinity();
  for (double x : {1e19, -1e19, 1e300, -1e300, inf, -inf, std::numeric_limits<double>::quiet_NaN()}) {
    double sine, cosine;
    SinCos64(x, &sine, &cosine);
    const double exponential = Exp64(x);
    if (!std::isfinite(x)) {
      EXPECT_TRUE(std::isnan(sine) && std::isnan(cosine) && std::isnan(exponential)) << x;
    }
  }
}

TEST(Sqrt, is_correctly_rounded) {
  ForMagnitudes(0x1p-149f, std::numeric_limits<float>::max(), 2003, [](float x) {
    ASSERT_EQ(Sqrt(x), static_cast<float>(std::sqrt(static_cast<double>(x)))) << x;
  });
}

}  // namespace
}  // namespace samebit::arith
