#include "kernels/self_test_operations.h"

#include <algorithm>
#include <cstring>

#include "arith/attention.h"
#include "arith/elementary.h"
#include "arith/linear.h"
#include "arith/log_probability.h"
#include "arith/norm.h"
#include "arith/rope.h"
#include "arith/sampling.h"

namespace samebit::kernels {

void Outcome::Append(const void* data, size_t data_bytes) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  bytes_.insert(bytes_.end(), bytes, bytes + data_bytes);
}

namespace {

using arith::WeightType;

// Fixed inputs: whole numbers from a multiplicative generator, scaled by powers of two. Nothing in them is rounded.
class Inputs {
 public:
  explicit Inputs(uint64_t seed) : state_(seed * 2 + 1) {}
  uint32_t Next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state_ >> 33);
  }
  // n numbers in (-scale, scale), every seventh a hundredth of that, every 61st zero.
  std::vector<float> Floats(uint32_t n, float scale) {
    std::vector<float> values(n);
    for (uint32_t i = 0; i < n; ++i) {
      const float unit = static_cast<float>(static_cast<int32_t>(Next() >> 7) - (1 << 23)) * 0x1p-23f;
      values[i] = i % 61 == 60 ? 0.0f : unit * scale * (i % 7 == 6 ? 0x1p-7f : 1.0f);
    }
    return values;
  }
  // Stored weights with finite scales of a weight's size.
  std::vector<uint8_t> Weights(WeightType type, uint32_t rows, uint32_t columns) {
    const arith::WeightFormat& format = arith::Format(type);
    std::vector<uint8_t> bytes(rows * arith::StoredBytes(type, columns));
    if (!format.quantized) {
      for (size_t at = 0; at < bytes.size(); at += format.block_bytes) {
        const float value = Floats(1, 0.25f)[0];
        const uint32_t bits = arith::BitsOf(value);
        const uint16_t half = type == WeightType::kF16 ? arith::F32ToF16(value) : static_cast<uint16_t>(bits >> 16);
        if (type == WeightType::kF32) std::memcpy(&bytes[at], &bits, 4);
        if (type != WeightType::kF32) std::memcpy(&bytes[at], &half, 2);
      }
      return bytes;
    }
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(Next() >> 5);
    for (size_t at = 0; at < bytes.size(); at += format.block_bytes) {
      const size_t scale_at = at + (type == WeightType::kQ6_K ? 208 : 0);  // Q6_K keeps its f16 at the end
      PutHalf(&bytes[scale_at]);
      if (format.has_minimum) PutHalf(&bytes[scale_at + 2]);
    }
    return bytes;
  }

 private:
  void PutHalf(uint8_t* at) {
    const auto half = static_cast<uint16_t>(0x2000u + (Next() & 0x0bffu));
    std::memcpy(at, &half, sizeof half);
  }
  uint64_t state_;
};

constexpr uint32_t kRows = 5, kOutputs = 40, kColumns = 512, kHead = 64, kPage = 64, kQueries = 5, kLogits = 3000;
constexpr uint16_t kBegin[kQueries] = {0, 0, 30, 0, 100}, kEnd[kQueries] = {250, 250, 250, 1, 130};

struct LinearInputs {
  explicit LinearInputs(WeightType type_of_weights)
      : type(type_of_weights),
        inputs(10 + static_cast<uint64_t>(type)),
        stored(inputs.Weights(type, kOutputs, kColumns)),
        x(inputs.Floats(kRows * kColumns, 4.0f)),
        tree(arith::MakeTree(arith::LinearTreeShape(type, kColumns))) {}
  WeightType type;
  Inputs inputs;
  std::vector<uint8_t> stored;
  std::vector<float> x;
  std::vector<arith::Leaf> tree;
};

template <WeightType kType>
void RunLinear(const KernelTable& table, Outcome* outcome) {
  const LinearInputs in(kType);
  PackedMatrix weights(kType, kOutputs, kColumns);
  weights.PackPanels(in.stored.data(), {}, 0, weights.panels());
  QuantizedRows quantized(kRows, kColumns);
  for (uint32_t i = 0; i < kRows; ++i) table.quantize_row(&in.x[i * kColumns], kColumns, quantized.row(i));
  std::vector<float> y(kRows * kOutputs);
  const LinearCall call{&weights, in.tree, kRows, in.x.data(), kColumns, &quantized, 0, y.data(), kOutputs};
  table.linear(call, 0, weights.panels());
  LinearCall first = call;  // one row alone goes through other code
  first.m = 1;
  table.linear(first, 0, weights.panels());
  outcome->AppendAll(y);
}

template <WeightType kType>
void LinearByLaw(Outcome* outcome) {
  const LinearInputs in(kType);
  std::vector<float> y(kRows * kOutputs);
  arith::LinearReference({kType, kOutputs, kColumns, in.stored.data()}, in.tree, in.x.data(), kRows, y.data());
  outcome->AppendAll(y);
}

struct QuantizedVectors {
  std::vector<int8_t> codes = std::vector<int8_t>(kColumns);
  std::vector<float> scales = std::vector<float>(kColumns / 32), sums = scales;
  std::vector<int32_t> halves = std::vector<int32_t>(kColumns / 16);
  arith::QuantizedRow row() { return {codes.data(), scales.data(), sums.data(), halves.data()}; }
  void Append(Outcome* outcome) const {
    outcome->AppendAll(codes);
    outcome->AppendAll(scales);
    outcome->AppendAll(sums);
    outcome->AppendAll(halves);
  }
};

void RunQuantize(const KernelTable& table, Outcome* outcome) {
  QuantizedVectors out;
  table.quantize_row(Inputs(1).Floats(kColumns, 3.0f).data(), kColumns, out.row());
  out.Append(outcome);
}

void QuantizeByLaw(Outcome* outcome) {
  QuantizedVectors out;
  arith::QuantizeRow(Inputs(1).Floats(kColumns, 3.0f).data(), kColumns, out.row());
  out.Append(outcome);
}

void RunRmsNorm(const KernelTable& table, Outcome* outcome) {
  std::vector<float> x = Inputs(2).Floats(580, 2.0f);
  table.rms_norm(x.data(), Inputs(3).Floats(580, 1.0f).data(), 580, 1e-5f, x.data());
  outcome->AppendAll(x);
}

void RmsNormByLaw(Outcome* outcome) {
  std::vector<float> x = Inputs(2).Floats(580, 2.0f);
  arith::RmsNorm(x.data(), Inputs(3).Floats(580, 1.0f).data(), 580, 1e-5f, x.data());
  outcome->AppendAll(x);
}

template <class Rotate>
void Rope(Rotate rotate, Outcome* outcome) {
  for (const uint32_t head_size : {64u, 80u}) {
    std::vector<float> x = Inputs(4).Floats(head_size, 2.0f);
    const std::vector<float> cosines = Inputs(5).Floats(head_size / 2, 1.0f),
                             sines = Inputs(6).Floats(head_size / 2, 1.0f);
    rotate(x.data(), head_size, cosines.data(), sines.data());
    outcome->AppendAll(x);
  }
}

void RunRope(const KernelTable& table, Outcome* outcome) { Rope(table.apply_rope, outcome); }
void RopeByLaw(Outcome* outcome) { Rope(arith::ApplyRope, outcome); }

constexpr uint32_t kElements = 333;

void RunElementwise(const KernelTable& table, Outcome* outcome) {
  const std::vector<float> x = Inputs(7).Floats(kElements, 50.0f), y = Inputs(8).Floats(kElements, 2.0f);
  std::vector<float> out(kElements);
  table.add(x.data(), y.data(), kElements, out.data());
  outcome->AppendAll(out);
  table.scale(x.data(), 0.125977f, kElements, out.data());
  outcome->AppendAll(out);
  table.silu_multiply(x.data(), y.data(), kElements, out.data());
  outcome->AppendAll(out);
  table.gelu_multiply(y.data(), x.data(), kElements, out.data());
  outcome->AppendAll(out);
}

void ElementwiseByLaw(Outcome* outcome) {
  const std::vector<float> x = Inputs(7).Floats(kElements, 50.0f), y = Inputs(8).Floats(kElements, 2.0f);
  std::vector<float> out(kElements);
  for (uint32_t i = 0; i < kElements; ++i) out[i] = x[i] + y[i];
  outcome->AppendAll(out);
  for (uint32_t i = 0; i < kElements; ++i) out[i] = x[i] * 0.125977f;
  outcome->AppendAll(out);
  for (uint32_t i = 0; i < kElements; ++i) out[i] = arith::Silu(x[i]) * y[i];
  outcome->AppendAll(out);
  for (uint32_t i = 0; i < kElements; ++i) out[i] = arith::GeluTanh(y[i]) * x[i];
  outcome->AppendAll(out);
}

struct AttentionInputs {
  std::vector<float> keys = Inputs(20).Floats(arith::kAttentionSplitKeys * kHead, 1.0f);
  std::vector<float> values = Inputs(21).Floats(arith::kAttentionSplitKeys * kHead, 1.0f);
  std::vector<float> queries = Inputs(22).Floats(kQueries * kHead, 1.0f);
};

// Both ways leave the parts of all queries, merged pairwise and finished, in `outcome`.
template <CacheType kType>
void RunAttention(const KernelTable& table, Outcome* outcome) {
  const AttentionInputs in;
  const HeadPage layout{kType, kHead, kPage};
  constexpr uint32_t kPages = arith::kAttentionSplitKeys / kPage;
  AlignedBytes memory[kPages];
  const std::byte* pages[kPages];
  for (uint32_t page = 0; page < kPages; ++page) {
    memory[page] = AllocateAligned(layout.bytes());
    pages[page] = memory[page].get();
    for (uint32_t token = 0; token < kPage; ++token) {
      const uint32_t at = (page * kPage + token) * kHead;
      table.store_key_value(layout, memory[page].get(), token, &in.keys[at], &in.values[at]);
    }
  }
  constexpr size_t kStride = kPartOut + kHead;
  std::vector<float> parts(kQueries * kStride, 0.0f), out(kHead);
  const float* queries[kQueries];
  for (uint32_t q = 0; q < kQueries; ++q) queries[q] = &in.queries[q * kHead];
  table.attention_split({layout, pages, kQueries, queries, kBegin, kEnd, parts.data(), kStride});
  outcome->AppendAll(parts);
  for (uint32_t q = 1; q < kQueries; ++q) table.merge_attention(parts.data(), &parts[q * kStride], kHead);
  table.finish_attention(parts.data(), kHead, out.data());
  outcome->AppendAll(out);
}

template <CacheType kType>
void AttentionByLaw(Outcome* outcome) {
  AttentionInputs in;
  if (kType == CacheType::kF16) {
    for (float& key : in.keys) key = arith::F16ToF32(arith::F32ToF16(key));
    for (float& value : in.values) value = arith::F16ToF32(arith::F32ToF16(value));
  }
  constexpr size_t kStride = kPartOut + kHead;
  std::vector<float> parts(kQueries * kStride, 0.0f), out(kHead);
  arith::AttentionPart law[kQueries];
  for (uint32_t q = 0; q < kQueries; ++q) {
    float* part = &parts[q * kStride];
    law[q].out = part + kPartOut;
    arith::AttentionSplit(&in.queries[q * kHead], kHead, in.keys.data(), in.values.data(), kBegin[q], kEnd[q], &law[q]);
    part[0] = law[q].max;
    part[1] = law[q].sum;
  }
  outcome->AppendAll(parts);
  for (uint32_t q = 1; q < kQueries; ++q) arith::MergeAttention(&law[0], law[q], kHead);
  arith::FinishAttention(law[0], kHead, out.data());
  outcome->AppendAll(out);
}

void AppendSampling(uint64_t candidate, uint64_t total, const std::vector<uint32_t>& weights,
                    const arith::LogSoftmax& softmax, bool finite, Outcome* outcome) {
  outcome->Append(&candidate, sizeof candidate);
  outcome->Append(&total, sizeof total);
  outcome->AppendAll(weights);
  outcome->Append(&softmax.max, sizeof softmax.max);
  outcome->Append(&softmax.log_total, sizeof softmax.log_total);
  outcome->Append(&finite, 1);
}

void RunSampling(const KernelTable& table, Outcome* outcome) {
  const std::vector<float> logits = Inputs(30).Floats(kLogits, 12.0f);
  std::vector<uint32_t> weights(kLogits);
  const uint64_t candidate = table.largest_candidate(logits.data(), kLogits);
  const float max = logits[arith::CandidateId(candidate)];
  const uint64_t total = table.sampling_weights(logits.data(), kLogits, max, 1.25f, weights.data());
  AppendSampling(candidate, total, weights, table.log_softmax(logits.data(), kLogits),
                 table.all_finite(logits.data(), kLogits), outcome);
}

void SamplingByLaw(Outcome* outcome) {
  const std::vector<float> logits = Inputs(30).Floats(kLogits, 12.0f);
  std::vector<uint32_t> weights(kLogits);
  uint64_t candidate = 0, total = 0;
  for (uint32_t i = 0; i < kLogits; ++i) candidate = std::max(candidate, arith::CandidateKey(logits[i], i));
  const float max = logits[arith::CandidateId(candidate)];
  for (uint32_t i = 0; i < kLogits; ++i) total += weights[i] = arith::SamplingWeight(logits[i], max, 1.25f);
  AppendSampling(candidate, total, weights, arith::LogSoftmaxOf(logits.data(), kLogits), true, outcome);
}

void RunLayerNorm(const KernelTable& table, Outcome* outcome) {
  const std::vector<float> w = Inputs(41).Floats(580, 1.0f), b = Inputs(42).Floats(580, 1.0f);
  std::vector<float> x = Inputs(40).Floats(580, 2.0f);
  table.layer_norm(x.data(), w.data(), b.data(), 580, 1e-12f, x.data());
  outcome->AppendAll(x);
}

void LayerNormByLaw(Outcome* outcome) {
  const std::vector<float> w = Inputs(41).Floats(580, 1.0f), b = Inputs(42).Floats(580, 1.0f);
  std::vector<float> x = Inputs(40).Floats(580, 2.0f);
  arith::LayerNorm(x.data(), w.data(), b.data(), 580, 1e-12f, x.data());
  outcome->AppendAll(x);
}

void RunPlainActivations(const KernelTable& table, Outcome* outcome) {
  const std::vector<float> x = Inputs(43).Floats(kElements, 16.0f);
  std::vector<float> out(kElements);
  table.gelu_erf(x.data(), kElements, out.data());
  outcome->AppendAll(out);
  table.gelu_tanh(x.data(), kElements, out.data());
  outcome->AppendAll(out);
}

void PlainActivationsByLaw(Outcome* outcome) {
  const std::vector<float> x = Inputs(43).Floats(kElements, 16.0f);
  std::vector<float> out(kElements);
  for (uint32_t i = 0; i < kElements; ++i) out[i] = arith::GeluErf(x[i]);
  outcome->AppendAll(out);
  for (uint32_t i = 0; i < kElements; ++i) out[i] = arith::GeluTanh(x[i]);
  outcome->AppendAll(out);
}

constexpr SelfTestOperation kEncoderOperations[] = {
    {"layer_norm", RunLayerNorm, LayerNormByLaw},
    {"gelu_erf, gelu_tanh", RunPlainActivations, PlainActivationsByLaw},
};

constexpr SelfTestOperation kOperations[] = {
    {"quantize_row", RunQuantize, QuantizeByLaw},
    {"linear F32", RunLinear<WeightType::kF32>, LinearByLaw<WeightType::kF32>},
    {"linear F16", RunLinear<WeightType::kF16>, LinearByLaw<WeightType::kF16>},
    {"linear BF16", RunLinear<WeightType::kBf16>, LinearByLaw<WeightType::kBf16>},
    {"linear Q4_0", RunLinear<WeightType::kQ4_0>, LinearByLaw<WeightType::kQ4_0>},
    {"linear Q4_1", RunLinear<WeightType::kQ4_1>, LinearByLaw<WeightType::kQ4_1>},
    {"linear Q5_0", RunLinear<WeightType::kQ5_0>, LinearByLaw<WeightType::kQ5_0>},
    {"linear Q5_1", RunLinear<WeightType::kQ5_1>, LinearByLaw<WeightType::kQ5_1>},
    {"linear Q8_0", RunLinear<WeightType::kQ8_0>, LinearByLaw<WeightType::kQ8_0>},
    {"linear Q4_K", RunLinear<WeightType::kQ4_K>, LinearByLaw<WeightType::kQ4_K>},
    {"linear Q5_K", RunLinear<WeightType::kQ5_K>, LinearByLaw<WeightType::kQ5_K>},
    {"linear Q6_K", RunLinear<WeightType::kQ6_K>, LinearByLaw<WeightType::kQ6_K>},
    {"rms_norm", RunRmsNorm, RmsNormByLaw},
    {"apply_rope", RunRope, RopeByLaw},
    {"add, scale, silu_multiply, gelu_multiply", RunElementwise, ElementwiseByLaw},
    {"attention over an f16 cache", RunAttention<CacheType::kF16>, AttentionByLaw<CacheType::kF16>},
    {"attention over an f32 cache", RunAttention<CacheType::kF32>, AttentionByLaw<CacheType::kF32>},
    {"candidates, sampling weights, log_softmax", RunSampling, SamplingByLaw},
};

}  // namespace

std::span<const SelfTestOperation> SelfTestOperations() { return kOperations; }
std::span<const SelfTestOperation> EncoderSelfTestOperations() { return kEncoderOperations; }

}  // namespace samebit::kernels
