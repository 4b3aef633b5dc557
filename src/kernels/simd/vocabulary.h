// Rules S and P over a row of logits [n].
#pragma once

#include "arith/sampling.h"

namespace samebit::kernels {
namespace {

inline constexpr float kMinusInfinity = -__builtin_inff();

// The largest of n finite numbers; the sign of a zero is left open.
SAMEBIT_INLINE float LargestOf(const float* x, uint32_t n) {
  // Four running maxima hide the latency of one.
  Floats largest[4];
  for (Floats& v : largest) v = Splat(kMinusInfinity);
  uint32_t i = 0;
  for (; i + 64 <= n; i += 64)
    for (uint32_t part = 0; part < 4; ++part) largest[part] = Max(Load(x + i + 16 * part), largest[part]);
  for (; i + 16 <= n; i += 16) largest[0] = Max(Load(x + i), largest[0]);
  if (i < n) largest[1] = Max(LoadPart(x + i, n - i, Splat(kMinusInfinity)), largest[1]);
  return LargestLane(Max(Max(largest[0], largest[1]), Max(largest[2], largest[3])));
}

// Index of the first element that equals `value` (zeros of both signs are equal); n if none.
SAMEBIT_INLINE uint32_t FirstEqual(const float* x, uint32_t n, float value) {
  const Floats wanted = Splat(value);
  uint32_t i = 0;
  while (i + 16 <= n && !AnyEqual(Load(x + i), wanted)) i += 16;
  while (i < n && x[i] != value) ++i;
  return i;
}

// The law's running maximum keeps the first of equal values, which shows only in the sign of a zero.
SAMEBIT_INLINE float FirstLargestOf(const float* x, uint32_t n) {
  const float largest = LargestOf(x, n);
  if (largest != 0.0f) return largest;
  return x[FirstEqual(x, n, largest)];
}

uint64_t LargestCandidate(const float* logits, uint32_t n) {
  const float largest = LargestOf(logits, n);
  const uint32_t id = FirstEqual(logits, n, largest);
  const uint32_t bits = __builtin_bit_cast(uint32_t, largest + 0.0f);
  const uint32_t ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return (uint64_t{ordered} << 32) | (0xffffffffu - id);
}

SAMEBIT_INLINE Ints WeightsOf(Floats logits, Floats max, Floats inverse_temperature) {
  const Floats scaled = Mul(ExpNeg(Mul(Sub(logits, max), inverse_temperature)), Splat(0x1p30f));
  const Floats limit = Splat(0x1p23f);
  return ToInt(IfGreater(limit, scaled, Sub(Add(scaled, limit), limit), scaled));
}

// Exact sum of whole numbers in [0, 2^30]: their low and high 16 bits are summed apart in int32 lanes, and taken out
// before 2^15 additions of less than 2^16 could overflow.
class WeightSum {
 public:
  SAMEBIT_INLINE void Add(Ints weights) {
    low_ = AddInt(low_, And(weights, SplatInt(0xffff)));
    high_ = AddInt(high_, ShiftRight<16>(weights));
    if (++count_ == kAdditionsMax) TakeOut();
  }
  SAMEBIT_INLINE uint64_t Total() {
    TakeOut();
    return total_;
  }

 private:
  static constexpr uint32_t kAdditionsMax = 1 << 14;
  SAMEBIT_INLINE void TakeOut() {
    alignas(64) int32_t low[16], high[16];
    StoreInts(low, low_);
    StoreInts(high, high_);
    for (int lane = 0; lane < 16; ++lane)
      total_ += (uint64_t{static_cast<uint32_t>(high[lane])} << 16) + static_cast<uint32_t>(low[lane]);
    low_ = high_ = SplatInt(0);
    count_ = 0;
  }
  Ints low_ = SplatInt(0), high_ = SplatInt(0);
  uint32_t count_ = 0;
  uint64_t total_ = 0;
};

uint64_t SamplingWeights(const float* logits, uint32_t n, float max, float inverse_temperature, uint32_t* weights) {
  const Floats maxes = Splat(max), inverses = Splat(inverse_temperature);
  auto* out = reinterpret_cast<int32_t*>(weights);
  WeightSum sum;
  uint32_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const Ints w = WeightsOf(Load(logits + i), maxes, inverses);
    StoreInts(out + i, w);
    sum.Add(w);
  }
  if (i < n) {  // lanes beyond n weigh nothing
    alignas(64) int32_t last[16];
    const Ints w = WeightsOf(LoadPart(logits + i, n - i, Splat(kMinusInfinity)), maxes, inverses);
    StoreInts(last, w);
    __builtin_memcpy(out + i, last, (n - i) * sizeof(int32_t));
    sum.Add(w);
  }
  return sum.Total();
}

arith::LogSoftmax LogSoftmaxOf(const float* logits, uint32_t n) {
  arith::LogSoftmax result;
  result.max = FirstLargestOf(logits, n);
  const Floats max = Splat(result.max);
  double total = 0;
  for (uint32_t begin = 0; begin < n; begin += arith::kLogSumBlock) {
    const uint32_t end = n - begin < arith::kLogSumBlock ? n : begin + arith::kLogSumBlock;
    Floats lanes = Splat(0.0f);
    uint32_t i = begin;
    for (; i + 16 <= end; i += 16) lanes = Add(lanes, ExpNeg(Sub(Load(logits + i), max)));
    if (i < end) lanes = Add(lanes, ExpNeg(Sub(LoadPart(logits + i, end - i, Splat(kMinusInfinity)), max)));
    total = total + static_cast<double>(Fold(lanes));
  }
  result.log_total = arith::Log64(total);
  return result;
}

}  // namespace
}  // namespace samebit::kernels
