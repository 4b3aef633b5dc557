// Measures the choices of the law against their alternatives: the tables of docs/arithmetic.md and docs/design/0001 to
// 0004. A plain program; all on fixed pseudo-random data, a few seconds. Only the times depend on the machine.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "arith/attention.h"
#include "arith/elementary.h"
#include "arith/environment.h"
#include "arith/linear.h"
#include "arith/log_probability.h"
#include "arith/norm.h"
#include "arith/rope.h"
#include "arith/sampling.h"
#include "arith/test_support.h"

namespace samebit::arith {
namespace {

using testing::Random;
using testing::RandomBlocks;

struct ErrorSum {
  double error = 0, size = 0, worst = 0;
  void Add(double got, double exact) {
    error += (got - exact) * (got - exact);
    size += exact * exact;
    worst = std::max(worst, std::fabs(got - exact));
  }
  double relative() const { return std::sqrt(error / size); }
};

void Linear() {
  std::printf("Rule L: rms error over rms answer, units of 2^-24 (512 outputs)\n     K   chain    tree\n");
  for (uint32_t columns : {576u, 1536u, 4096u, 11008u, 14336u}) {
    Random random(columns);
    const uint32_t rows = 512;
    const auto w = random.Normals(uint64_t{rows} * columns, 0.05f), x = random.Normals(columns);
    std::vector<float> tree(rows), chain(rows);
    const LinearWeights weights{WeightType::kF32, rows, columns, w.data()};
    LinearReference(weights, MakeTree({columns, 32, true}), x.data(), 1, tree.data());
    LinearReference(weights, {{0, columns, 0}}, x.data(), 1, chain.data());
    ErrorSum tree_error, chain_error;
    for (uint32_t n = 0; n < rows; ++n) {
      double exact = 0;
      for (uint32_t k = 0; k < columns; ++k) exact += double{x[k]} * w[uint64_t{n} * columns + k];
      tree_error.Add(tree[n], exact), chain_error.Add(chain[n], exact);
    }
    std::printf("%6u %7.1f %7.1f\n", columns, chain_error.relative() * 0x1p24, tree_error.relative() * 0x1p24);
  }
}

// What a way to quantize a block of activations gives back.
using RoundTrip = std::function<void(const float* x, uint32_t block, double* back)>;

void BackFrom(const float* x, uint32_t block, float stored_scale, float inverse, double* back) {
  for (uint32_t i = 0; i < block; ++i)
    back[i] = double{stored_scale} * std::clamp(std::nearbyint(x[i] * inverse), -127.0f, 127.0f);
}
float Amax(const float* x, uint32_t n) {
  float amax = 0;
  for (uint32_t i = 0; i < n; ++i) amax = std::max(amax, std::fabs(x[i]));
  return amax;
}
void LawScale(const float* x, uint32_t block, double* back) {
  const float scale = ActivationScale(Amax(x, block));
  BackFrom(x, block, scale, 1 / scale, back);
}
void HalfScale(const float* x, uint32_t block, double* back) {  // codes by the binary32 scale, the scale kept as f16
  const float scale = Amax(x, block) / 127;
  BackFrom(x, block, F16ToF32(F32ToF16(scale)), 1 / scale, back);
}
void HalfScaleBoth(const float* x, uint32_t block, double* back) {  // codes by the rounded f16 scale
  const float scale = F16ToF32(F32ToF16(Amax(x, block) / 127));
  BackFrom(x, block, scale, scale > 0 ? 1 / scale : 0, back);
}
void FullScale(const float* x, uint32_t block, double* back) {
  const float scale = Amax(x, block) / 127;
  BackFrom(x, block, scale, 1 / scale, back);
}

double RoundTripError(const RoundTrip& round_trip, uint32_t block, float amax, float outlier) {
  Random random(99);
  ErrorSum error;
  std::vector<double> back(block);
  for (uint32_t t = 0; t < 512'000 / block; ++t) {
    auto x = random.Normals(block, amax / 2.2f);
    if (outlier > 0 && t % (4096 / block) == 0) x[random.Below(block)] *= outlier;
    round_trip(x.data(), block, back.data());
    for (uint32_t i = 0; i < block; ++i) error.Add(back[i], x[i]);
  }
  return error.relative();
}

void ActivationScales() {
  std::printf("\nActivation scale: relative rms error of x after quantization, blocks of 32 normal values\n"
              "   amax   law (11 bits)   f16 kept   f16 used   binary32\n");
  for (float amax : {1.0f, 1e-1f, 1e-2f, 1e-3f, 1e-4f, 1e-5f, 1e-6f})
    std::printf("%7.0e %14.5f %10.5f %10.5f %10.5f\n", amax, RoundTripError(LawScale, 32, amax, 0),
                RoundTripError(HalfScale, 32, amax, 0), RoundTripError(HalfScaleBoth, 32, amax, 0),
                RoundTripError(FullScale, 32, amax, 0));
  std::printf("\nBlock of the activation scale: relative rms error\n  outlier     32      256\n");
  for (float outlier : {0.0f, 10.0f, 50.0f})
    std::printf("%8.0fx %8.5f %8.5f\n", outlier, RoundTripError(LawScale, 32, 1, outlier),
                RoundTripError(FullScale, 256, 1, outlier));
}

void Quantized() {
  std::printf("\nRule Q: rms error over rms answer (256 outputs): sums in units of 2^-24, int8 activations in %%\n"
              "             K     sums  activations\n");
  using enum WeightType;
  for (WeightType type : {kQ4_0, kQ4_1, kQ8_0, kQ4_K, kQ6_K})
    for (uint32_t columns : {768u, 4096u, 14336u}) {
      Random random(columns);
      const uint32_t rows = 256, blocks = columns / 32;
      const auto bytes = RandomBlocks(type, uint64_t{rows} * columns, random);
      const auto x = random.Normals(columns);
      std::vector<float> y(rows), scales(blocks), sums(blocks);
      std::vector<int8_t> x_codes(columns);
      std::vector<int32_t> half_sums(blocks * 2);
      QuantizeRow(x.data(), columns, {x_codes.data(), scales.data(), sums.data(), half_sums.data()});
      const auto tree = MakeTree(LinearTreeShape(type, columns));
      LinearReference({type, rows, columns, bytes.data()}, tree, x.data(), 1, y.data());
      const WeightFormat& format = Format(type);
      ErrorSum sum_error, activation_error;
      uint8_t codes[256];
      float w_scales[16], minimums[16];
      for (uint32_t n = 0; n < rows; ++n) {
        double same_inputs = 0, float_inputs = 0;
        for (uint32_t k = 0; k < columns; ++k) {
          const uint32_t inside = k % format.block_elements, group = inside / format.scale_elements;
          const uint64_t at = uint64_t{n} * columns + k;
          if (inside == 0) UnpackBlock(type, &bytes[StoredBytes(type, at)], codes, w_scales, minimums);
          const double w = double{w_scales[group]} * (codes[inside] - format.code_offset) + minimums[group];
          same_inputs += w * x_codes[k] * scales[k / 32];
          float_inputs += w * x[k];
        }
        sum_error.Add(y[n], same_inputs), activation_error.Add(y[n], float_inputs);
      }
      std::printf("%-5s %8u %8.1f %10.3f %%\n", std::string(format.name).c_str(), columns,
                  sum_error.relative() * 0x1p24, activation_error.relative() * 100);
    }
}

void LogProbabilities() {
  std::printf("\nRule P: worst error of log(total), 40 rows (units of 1e-9)\n"
              "       n  spread      law  binary32 chain  integer weights\n");
  for (uint32_t n : {49152u, 262144u})
    for (float spread : {0.5f, 2.0f, 6.0f}) {
      Random random(n);
      double law = 0, chain = 0, integer = 0;
      for (int row = 0; row < 40; ++row) {
        const auto logits = random.Normals(n, spread);
        const LogSoftmax normalizer = LogSoftmaxOf(logits.data(), n);
        double total = 0;
        float plain = 0;
        uint64_t weights = 0;
        for (float logit : logits) {
          total += std::exp(double{logit} - normalizer.max);
          plain += ExpNeg(logit - normalizer.max);
          weights += SamplingWeight(logit, normalizer.max, 1.0f);
        }
        const double exact = std::log(total);
        law = std::max(law, std::fabs(normalizer.log_total - exact));
        chain = std::max(chain, std::fabs(std::log(double{plain}) - exact));
        integer = std::max(integer, std::fabs(std::log(static_cast<double>(weights) * 0x1p-30) - exact));
      }
      std::printf("%8u %7.1f %8.1f %15.1f %16.1f\n", n, spread, law * 1e9, chain * 1e9, integer * 1e9);
    }
}

void RopeCost() {
  std::printf("\nRule R: time of the angles of one position (this machine)\n");
  for (uint32_t head : {64u, 128u, 256u}) {
    const auto frequencies = RopeFrequencies(1e6, head, {});
    std::vector<float> cosines(head / 2), sines(head / 2);
    double best = 1e9;
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto start = std::chrono::steady_clock::now();
      for (uint32_t position = 0; position < 2000; ++position)
        RopeAngles(frequencies, position * 16, cosines.data(), sines.data());
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 2000);
    }
    std::printf("head %3u: %.2f us\n", head, best * 1e6);
  }
}

void Attention() {
  std::printf("\nRule A: rms error over rms answer and worst absolute error (64 dimensions, 20 queries)\n"
              "   keys  units of 2^-24   worst\n");
  for (uint32_t count : {16u, 256u, 1000u, 4096u}) {
    Random random(count);
    ErrorSum error;
    const uint32_t head = 64, padded = (count + 255) / 256 * 256;
    for (int t = 0; t < 20; ++t) {
      const auto query = random.Normals(head, 0.3f), keys = random.Normals(uint64_t{padded} * head);
      const auto values = random.Normals(uint64_t{padded} * head);
      std::vector<float> running_out(head), next_out(head), out(head);
      AttentionPart running{0, 0, running_out.data()}, next{0, 0, next_out.data()};
      for (uint32_t base = 0; base < count; base += 256) {
        AttentionSplit(query.data(), head, &keys[base * head], &values[base * head], 0, std::min(count - base, 256u),
                       base ? &next : &running);
        if (base) MergeAttention(&running, next, head);
      }
      FinishAttention(running, head, out.data());
      std::vector<double> exact(head), scores(count);
      double max = -1e300, sum = 0;
      for (uint32_t j = 0; j < count; ++j) {
        for (uint32_t d = 0; d < head; ++d) scores[j] += double{query[d]} * keys[j * head + d];
        max = std::max(max, scores[j]);
      }
      for (double& score : scores) sum += score = std::exp(score - max);
      for (uint32_t j = 0; j < count; ++j)
        for (uint32_t d = 0; d < head; ++d) exact[d] += scores[j] / sum * values[j * head + d];
      for (uint32_t d = 0; d < head; ++d) error.Add(out[d], exact[d]);
    }
    std::printf("%7u %15.1f %9.2g\n", count, error.relative() * 0x1p24, error.worst);
  }
}

void Norm() {
  std::printf("\nRule N: worst error in ulp\n");
  for (uint32_t n : {576u, 4096u}) {
    Random random(n);
    double worst = 0;
    for (int t = 0; t < 200; ++t) {
      const auto x = random.Normals(n, 3.0f), w = random.Normals(n);
      std::vector<float> out(n);
      RmsNorm(x.data(), w.data(), n, 1e-5f, out.data());
      double squares = 0;
      for (float value : x) squares += double{value} * value;
      const double r = 1 / std::sqrt(squares / n + double{1e-5f});
      for (uint32_t i = 0; i < n; ++i) worst = std::max(worst, testing::UlpError(out[i], x[i] * r * w[i]));
    }
    std::printf("%6u %.2f\n", n, worst);
  }
}

}  // namespace
}  // namespace samebit::arith

int main() {
  using namespace samebit::arith;
  Linear();
  Quantized();
  ActivationScales();
  LogProbabilities();
  RopeCost();
  Attention();
  Norm();
}
