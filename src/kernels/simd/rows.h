// Operations on one row of activations: rules N, R, Q (quantization), M (residual) and the gated activations.
#pragma once

namespace samebit::kernels {
namespace {

// out[i] = f(x[i], y[i]) for i < n.
template <class Function>
SAMEBIT_INLINE void ForEach(const float* x, const float* y, uint32_t n, float* out, Function f) {
  uint32_t i = 0;
  for (; i + 16 <= n; i += 16) Store(out + i, f(Load(x + i), Load(y + i)));
  const Floats zero = Splat(0.0f);
  if (i < n) StorePart(out + i, n - i, f(LoadPart(x + i, n - i, zero), LoadPart(y + i, n - i, zero)));
}

void AddRows(const float* x, const float* y, uint32_t n, float* out) {
  ForEach(x, y, n, out, [](Floats a, Floats b) { return Add(a, b); });
}

void ScaleRow(const float* x, float factor, uint32_t n, float* out) {
  const Floats factors = Splat(factor);
  ForEach(x, x, n, out, [factors](Floats a, Floats) { return Mul(a, factors); });
}

void SiluMultiply(const float* gate, const float* up, uint32_t n, float* out) {
  ForEach(gate, up, n, out, [](Floats g, Floats u) { return Mul(Silu(g), u); });
}

void GeluMultiply(const float* gate, const float* up, uint32_t n, float* out) {
  ForEach(gate, up, n, out, [](Floats g, Floats u) { return Mul(GeluTanh(g), u); });
}

void GeluErfRow(const float* x, uint32_t n, float* out) {
  ForEach(x, x, n, out, [](Floats a, Floats) { return GeluErf(a); });
}

void GeluTanhRow(const float* x, uint32_t n, float* out) {
  ForEach(x, x, n, out, [](Floats a, Floats) { return GeluTanh(a); });
}

bool LayerNorm(const float* x, const float* w, const float* b, uint32_t n, float epsilon, float* out) {
  const Floats zero = Splat(0.0f);
  Floats lanes = zero;
  uint32_t i = 0;
  for (; i + 16 <= n; i += 16) lanes = Add(lanes, Load(x + i));
  if (i < n) lanes = Add(lanes, LoadPart(x + i, n - i, zero));
  const float mean = Fold(lanes) / static_cast<float>(n);
  const Floats means = Splat(mean);
  lanes = zero;
  for (i = 0; i + 16 <= n; i += 16) {
    const Floats d = Sub(Load(x + i), means);
    lanes = Fma(d, d, lanes);
  }
  if (i < n) {  // the lanes beyond n add 0 * 0
    const Floats d = Sub(LoadPart(x + i, n - i, means), means);
    lanes = Fma(d, d, lanes);
  }
  const float sum = Fold(lanes);
  const float root = __builtin_sqrtf(sum / static_cast<float>(n) + epsilon);
  const Floats r = Splat(1.0f / root);
  const auto shifted = [&](Floats a, Floats weight, Floats bias) { return Fma(Mul(Sub(a, means), r), weight, bias); };
  for (i = 0; i + 16 <= n; i += 16) Store(out + i, shifted(Load(x + i), Load(w + i), Load(b + i)));
  if (i < n)
    StorePart(out + i, n - i,
              shifted(LoadPart(x + i, n - i, zero), LoadPart(w + i, n - i, zero), LoadPart(b + i, n - i, zero)));
  return __builtin_bit_cast(uint32_t, sum) < 0x7f800000u;
}

bool RmsNorm(const float* x, const float* w, uint32_t n, float epsilon, float* out) {
  const Floats zero = Splat(0.0f);
  Floats lanes = zero;
  uint32_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const Floats v = Load(x + i);
    lanes = Fma(v, v, lanes);
  }
  if (i < n) {  // the lanes beyond n add 0 * 0
    const Floats v = LoadPart(x + i, n - i, zero);
    lanes = Fma(v, v, lanes);
  }
  const float sum = Fold(lanes);
  const float mean = sum / static_cast<float>(n);
  const float root = __builtin_sqrtf(mean + epsilon);
  const Floats r = Splat(1.0f / root);
  ForEach(x, w, n, out, [r](Floats a, Floats b) { return Mul(Mul(a, r), b); });
  return __builtin_bit_cast(uint32_t, sum) < 0x7f800000u;
}

void ApplyRope(float* x, uint32_t head_size, const float* cosines, const float* sines) {
  const uint32_t half = head_size / 2;
  const Floats zero = Splat(0.0f);
  for (uint32_t i = 0; i < half; i += 16) {
    const uint32_t count = half - i < 16 ? half - i : 16;
    const Floats a = LoadPart(x + i, count, zero), b = LoadPart(x + half + i, count, zero);
    const Floats c = LoadPart(cosines + i, count, zero), s = LoadPart(sines + i, count, zero);
    StorePart(x + i, count, FmaMinus(a, c, Mul(b, s)));
    StorePart(x + half + i, count, Fma(b, c, Mul(a, s)));
  }
}

bool AllFinite(const float* x, uint32_t n) {
  const Ints magnitude_mask = SplatInt(0x7fffffff);
  const Floats zero = Splat(0.0f);
  Ints largest = SplatInt(0);
  uint32_t i = 0;
  for (; i + 16 <= n; i += 16) largest = MaxInt(And(Bits(Load(x + i)), magnitude_mask), largest);
  if (i < n) largest = MaxInt(And(Bits(LoadPart(x + i, n - i, zero)), magnitude_mask), largest);
  return LargestLane(largest) < 0x7f800000;
}

// Rule Q. Scales first, 16 blocks side by side, so that the two divisions of a block are a sixteenth of a vector's.
bool QuantizeRow(const float* x, uint32_t columns, const arith::QuantizedRow& out) {
  const Ints magnitude_mask = SplatInt(0x7fffffff);
  const Floats magic = Splat(12582912.0f);
  const Ints magic_bits = SplatInt(kMagicBits);
  const uint32_t blocks = columns / layout::kBlockInputs;
  int32_t largest = 0;
  for (uint32_t first = 0; first < blocks; first += 16) {
    const uint32_t count = blocks - first < 16 ? blocks - first : 16;
    alignas(64) int32_t amax_bits[16] = {};
    alignas(64) float scales[16], inverses[16], sums[16] = {};
    for (uint32_t b = 0; b < count; ++b) {
      const float* in = x + (first + b) * layout::kBlockInputs;
      const Ints low = And(Bits(Load(in)), magnitude_mask), high = And(Bits(Load(in + 16)), magnitude_mask);
      amax_bits[b] = LargestLane(MaxInt(low, high));
      largest = amax_bits[b] > largest ? amax_bits[b] : largest;
    }
    Floats amax;
    __builtin_memcpy(&amax, amax_bits, sizeof amax);
    // amax / 127 at 11 significant bits, nearest even; 0 (and its inverse) below 2^-100.
    const Ints quotient = Bits(Div(amax, Splat(127.0f)));
    const Ints odd = And(ShiftRight<13>(quotient), SplatInt(1));
    const Ints rounded = And(AddInt(AddInt(quotient, SplatInt(0xfff)), odd), SplatInt(~0x1fff));
    const Floats below = Splat(0x1p-100f), zero = Splat(0.0f);
    const Floats scale = IfGreater(below, amax, zero, FromBits(rounded));
    const Floats inverse = IfGreater(below, amax, zero, Div(Splat(1.0f), FromBits(rounded)));
    Store(scales, scale);
    Store(inverses, inverse);
    for (uint32_t b = 0; b < count; ++b) {
      const float* in = x + (first + b) * layout::kBlockInputs;
      const Floats factor = Splat(inverses[b]);
      // The byte that is stored, sign extended: in a row with NaN the rest of the bits is anything, and sums could
      // overflow.
      const Ints low = ShiftRight<24>(ShiftLeft<24>(SubInt(Bits(Fma(Load(in), factor, magic)), magic_bits)));
      const Ints high = ShiftRight<24>(ShiftLeft<24>(SubInt(Bits(Fma(Load(in + 16), factor, magic)), magic_bits)));
      int8_t* codes = out.codes + (first + b) * layout::kBlockInputs;
      StoreI8(codes, low);
      StoreI8(codes + 16, high);
      const int32_t low_sum = SumLanes(low), high_sum = SumLanes(high);
      out.half_sums[2 * (first + b)] = low_sum;
      out.half_sums[2 * (first + b) + 1] = high_sum;
      sums[b] = static_cast<float>(low_sum + high_sum);
    }
    StorePart(out.scales + first, count, scale);
    StorePart(out.scaled_sums + first, count, Mul(scale, Load(sums)));
  }
  return largest < 0x7f800000;
}

}  // namespace
}  // namespace samebit::kernels
