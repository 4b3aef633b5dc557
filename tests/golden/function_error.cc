// Measures the errors of rule F's functions: the numbers of docs/arithmetic.md.
//
//   function_error [STEP]    every STEP-th binary32 value of each range (1, the default: all of them; minutes)
//
// The reference is the C library's binary64 function, or long double for the binary64 functions.
#include <cstdio>
#include <cstdlib>

#include "arith/elementary.h"
#include "arith/test_support.h"

namespace samebit::arith {
namespace {

using testing::Random;
using testing::UlpError;

uint32_t g_step = 1;

template <class Function, class Exact>
void Report(const char* name, float first, float last, Function function, Exact exact) {
  double worst = 0, squares = 0;
  float worst_at = 0;
  uint64_t count = 0, correctly_rounded = 0;
  const uint32_t sign = first < 0 ? 0x80000000u : 0;
  uint64_t begin = BitsOf(first) & 0x7fffffff, end = BitsOf(last) & 0x7fffffff;
  if (begin > end) std::swap(begin, end);
  for (uint64_t bits = begin; bits <= end; bits += g_step, ++count) {
    const float x = FloatOf(static_cast<uint32_t>(bits) | sign);
    const float got = function(x);
    const double expected = exact(double{x});
    const double error = UlpError(got, expected);
    squares += error * error;
    correctly_rounded += got == static_cast<float>(expected);
    if (error > worst) worst = error, worst_at = x;
  }
  std::printf("%-10s [%12.5g, %12.5g] %11llu values: worst %7.3f ulp at %-14.9g rms %.3f, correctly rounded %.1f %%\n",
              name, first, last, static_cast<unsigned long long>(count), worst, worst_at, std::sqrt(squares / count),
              100.0 * correctly_rounded / count);
  std::fflush(stdout);
}

double SiluExact(double x) { return x / (1 + std::exp(-x)); }
double GeluExact(double x) {
  const double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * u));
}

double GeluErfExact(double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }

template <class Function, class Exact, class Draw>
void Report64(const char* name, Function function, Exact exact, Draw draw, bool relative) {
  Random random(1);
  double worst = 0, worst_at = 0;
  for (int i = 0; i < 4'000'000 / static_cast<int>(std::min(g_step, 100u)); ++i) {
    const double x = draw(random);
    const long double expected = exact(static_cast<long double>(x));
    long double error = std::fabs(function(x) - expected);
    if (relative && expected != 0) error /= std::ldexp(1.0L, std::ilogb(expected));
    if (error > worst) worst = static_cast<double>(error), worst_at = x;
  }
  std::printf("%-10s worst %.3f units of 2^-53 %s, at %.17g\n", name, worst * 0x1p53,
              relative ? "of the binade" : "of 1", worst_at);
}

void Main() {
  const auto exp = [](double x) { return std::exp(x); };
  Report("ExpNeg", -0x1p-30f, -87.29999f, ExpNeg, exp);
  Report("Exp", -0x1p-30f, -87.33654f, Exp, exp);
  Report("Exp", 0x1p-30f, 88.72283f, Exp, exp);
  Report("Exp, tiny", -87.33655f, -104.0f, Exp, exp);
  Report("Silu", 0x1p-30f, 100.0f, Silu, SiluExact);
  Report("Silu", -0x1p-30f, -80.0f, Silu, SiluExact);
  Report("GeluTanh", 0x1p-30f, 20.0f, GeluTanh, GeluExact);
  Report("GeluTanh", -0x1p-30f, -1.0f, GeluTanh, GeluExact);
  Report("GeluTanh", -1.0f, -3.0f, GeluTanh, GeluExact);
  Report("GeluTanh", -3.0f, -8.0f, GeluTanh, GeluExact);
  Report("GeluErf", 0x1p-30f, 20.0f, GeluErf, GeluErfExact);
  Report("GeluErf", -0x1p-30f, -1.0f, GeluErf, GeluErfExact);
  Report("GeluErf", -1.0f, -4.0f, GeluErf, GeluErfExact);
  Report("GeluErf", -4.0f, -12.8f, GeluErf, GeluErfExact);

  uint32_t previous = BitsOf(ExpNeg(-87.29999f));
  int64_t worst_step_back = 0, steps_back = 0;
  for (uint32_t bits = BitsOf(-87.29999f); bits > BitsOf(-0x1p-26f); --bits) {
    const uint32_t now = BitsOf(ExpNeg(FloatOf(bits)));
    steps_back += previous > now;
    worst_step_back = std::max(worst_step_back, int64_t{previous} - int64_t{now});
    previous = now;
  }
  std::printf("ExpNeg     steps back %lld times between neighbours, by at most %lld ulp\n",
              static_cast<long long>(steps_back), static_cast<long long>(worst_step_back));

  const auto uniform = [](double limit) {
    return [limit](Random& random) {
      return static_cast<double>(static_cast<int64_t>(random.Bits64())) * 0x1p-63 * limit;
    };
  };
  Report64("Exp64", Exp64, [](long double x) { return std::exp(x); }, uniform(700), true);
  const auto log = [](long double x) { return std::log(x); };
  Report64("Log64", Log64, log, [](Random& random) {
    const uint64_t fraction = random.Bits64() >> 12;
    return std::bit_cast<double>(fraction | uint64_t{1 + random.Below(2046)} << 52);
  }, true);
  Report64("Log64 ~ 1", Log64, log, [&](Random& random) { return 1 + uniform(0.5)(random); }, true);
  const auto sine = [](double x) { double s, c; SinCos64(x, &s, &c); return s; };
  const auto cosine = [](double x) { double s, c; SinCos64(x, &s, &c); return c; };
  Report64("SinCos64 s", sine, [](long double x) { return std::sin(x); }, uniform(1048576), false);
  Report64("SinCos64 c", cosine, [](long double x) { return std::cos(x); }, uniform(1048576), false);
}

}  // namespace
}  // namespace samebit::arith

int main(int argc, char** argv) {
  if (argc > 1) samebit::arith::g_step = static_cast<uint32_t>(std::max(1, std::atoi(argv[1])));
  samebit::arith::Main();
}
