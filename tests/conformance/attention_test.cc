// Rule A: the cache's layout and the attention functions of every table equal arith bit for bit, for every range, page
// size, head size, cache type and number of queries. Memory outside the visible keys is filled with NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "arith/attention.h"
#include "kernels/kernels.h"
#include "random_data.h"

namespace samebit::conformance {
namespace {

using kernels::CacheType;
using kernels::HeadPage;
using kernels::Isa;
using kernels::KernelTable;

constexpr uint32_t kKeys = arith::kAttentionSplitKeys;

// One split of a cache, filled by store_key_value for keys [first, last), NaN elsewhere; pages without a key are
// absent.
struct Split {
  HeadPage layout;
  std::vector<kernels::AlignedBytes> memory;
  std::vector<const std::byte*> pages;
  std::vector<float> keys, values;  // [256][head_size] as the law reads them: rounded to the cache's type
};

float Rounded(CacheType type, float value) {
  return type == CacheType::kF16 ? arith::F16ToF32(arith::F32ToF16(value)) : value;
}

Split MakeSplit(const KernelTable& table, HeadPage layout, uint32_t first, uint32_t last, Style style, Random& random) {
  Split split{layout,
              {},
              {},
              std::vector<float>(size_t{kKeys} * layout.head_size),
              std::vector<float>(size_t{kKeys} * layout.head_size)};
  for (uint32_t begin = 0; begin < kKeys; begin += layout.page_tokens) {
    split.memory.push_back(nullptr);
    if (begin < last && begin + layout.page_tokens > first) {
      split.memory.back() = kernels::AllocateAligned(layout.bytes());
      std::memset(split.memory.back().get(), 0xff, layout.bytes());  // a NaN in either type
    }
    split.pages.push_back(split.memory.back().get());
  }
  for (uint32_t j = first; j < last; ++j) {
    const std::vector<float> key = RandomFloats(random, layout.head_size, style),
                             value = RandomFloats(random, layout.head_size, style);
    table.store_key_value(layout, split.memory[j / layout.page_tokens].get(), j % layout.page_tokens, key.data(),
                          value.data());
    for (uint32_t d = 0; d < layout.head_size; ++d) {
      split.keys[size_t{j} * layout.head_size + d] = Rounded(layout.type, key[d]);
      split.values[size_t{j} * layout.head_size + d] = Rounded(layout.type, value[d]);
    }
  }
  return split;
}

struct Visible {
  uint16_t begin, end;
};

// Compares the parts of all queries with the law's, and untouched memory with what was there.
void CheckQueries(const KernelTable& table, const Split& split, const std::vector<Visible>& ranges, Style style,
                  Random& random) {
  const uint32_t head_size = split.layout.head_size;
  const size_t stride = kernels::kPartOut + head_size + 16;
  const size_t count = ranges.size();
  const std::vector<float> queries = RandomFloats(random, count * head_size, style);
  std::vector<const float*> query(count);
  std::vector<uint16_t> begin(count), end(count);
  const std::vector<float> untouched(count * stride, 777.0f);
  std::vector<float> expected = untouched;
  for (size_t q = 0; q < count; ++q) {
    query[q] = &queries[q * head_size];
    begin[q] = ranges[q].begin;
    end[q] = ranges[q].end;
    if (begin[q] >= end[q]) continue;
    float* part = &expected[q * stride];
    arith::AttentionPart law{0, 0, part + kernels::kPartOut};
    arith::AttentionSplit(query[q], head_size, split.keys.data(), split.values.data(), begin[q], end[q], &law);
    part[0] = law.max;
    part[1] = law.sum;
  }
  kernels::AttentionSplitCall call;
  call.layout = split.layout;
  call.pages = split.pages.data();
  call.query_count = static_cast<uint32_t>(count);
  call.queries = query.data();
  call.begin = begin.data();
  call.end = end.data();
  call.part_stride = stride;
  for (const std::byte* next_keys :
       {static_cast<const std::byte*>(nullptr), split.pages[begin[0] / split.layout.page_tokens]}) {
    std::vector<float> parts = untouched;
    call.parts = parts.data();
    call.next_keys = next_keys;
    table.attention_split(call);
    for (size_t i = 0; i < parts.size(); ++i) {
      ASSERT_EQ(std::memcmp(&parts[i], &expected[i], sizeof(float)), 0)
          << "query " << i / stride << " of " << count << " [" << begin[i / stride] << ", " << end[i / stride]
          << ") element " << i % stride << ": " << parts[i] << ", the law gives " << expected[i];
    }
  }
}

class Attention : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { ASSERT_EQ(table_.isa, GetParam()); }
  const KernelTable& table_ = kernels::Kernels(GetParam());
};

TEST_P(Attention, one_query_equals_the_law_for_every_head_page_and_range) {
  Random random(21);
  for (const CacheType type : {CacheType::kF16, CacheType::kF32}) {
    for (const uint32_t head_size : {16u, 64u, 80u, 128u, 256u}) {
      for (const uint32_t page_tokens : {16u, 32u, 64u, 128u, 256u}) {
        for (const Visible range :
             {Visible{0, 1}, {0, 256}, {0, 15}, {0, 17}, {5, 6}, {13, 200}, {16, 48}, {255, 256}, {31, 33}}) {
          const Split split =
              MakeSplit(table_, {type, head_size, page_tokens}, range.begin, range.end, Style::kPlain, random);
          ASSERT_NO_FATAL_FAILURE(CheckQueries(table_, split, {range}, Style::kPlain, random));
        }
      }
    }
  }
}

TEST_P(Attention, groups_of_queries_with_different_ranges_equal_the_law) {
  Random random(22);
  for (const CacheType type : {CacheType::kF16, CacheType::kF32}) {
    for (const Style style : {Style::kPlain, Style::kOutlier, Style::kSparse}) {
      const Split split = MakeSplit(table_, {type, 64, 32}, 0, 256, style, random);
      for (uint32_t count = 1; count <= 9; ++count)
        ASSERT_NO_FATAL_FAILURE(CheckQueries(table_, split, std::vector<Visible>(count, {0, 256}), style, random));
      std::vector<Visible> chunk, window, scattered;
      for (uint16_t token = 0; token < 64; ++token) {  // a prefill chunk with three heads to a token, causal
        for (int head = 0; head < 3; ++head) {
          chunk.push_back({0, static_cast<uint16_t>(token + 100)});
          window.push_back({static_cast<uint16_t>(token + 70), static_cast<uint16_t>(token + 100)});
        }
      }
      for (int i = 0; i < 40; ++i) {  // any order, some empty, some without a common key
        const auto begin = static_cast<uint16_t>(random.Below(256));
        scattered.push_back({begin, static_cast<uint16_t>(std::min(256u, begin + random.Below(60)))});
      }
      ASSERT_NO_FATAL_FAILURE(CheckQueries(table_, split, chunk, style, random));
      ASSERT_NO_FATAL_FAILURE(CheckQueries(table_, split, window, style, random));
      ASSERT_NO_FATAL_FAILURE(CheckQueries(table_, split, scattered, style, random));
    }
  }
}

TEST_P(Attention, underflowing_weights_and_zeros_keep_their_signs) {
  // Scores far apart make weights near 2^-126; products with tiny values underflow to zeros of both signs.
  Random random(23);
  for (const CacheType type : {CacheType::kF16, CacheType::kF32}) {
    Split split = MakeSplit(table_, {type, 16, 64}, 0, 200, Style::kSparse, random);
    for (int round = 0; round < 20; ++round) {
      std::vector<Visible> ranges;
      for (int q = 0; q < 7; ++q)
        ranges.push_back({static_cast<uint16_t>(random.Below(20)), static_cast<uint16_t>(21 + random.Below(180))});
      ASSERT_NO_FATAL_FAILURE(CheckQueries(table_, split, ranges, Style::kSparse, random));
    }
    std::vector<float> key(16, 0.0f), value(16);
    for (uint32_t j = 0; j < 200; ++j) {
      key[0] = j == 0 ? 30.0f : -50.0f - random.Unit();
      for (uint32_t d = 0; d < 16; ++d) {
        value[d] = j == 0 ? 0.0f : random.Unit() * (type == CacheType::kF16 ? 6e-8f : 1e-12f);
        split.keys[j * 16 + d] = Rounded(type, key[d]);
        split.values[j * 16 + d] = Rounded(type, value[d]);
      }
      table_.store_key_value(split.layout, split.memory[j / 64].get(), j % 64, key.data(), value.data());
    }
    ASSERT_NO_FATAL_FAILURE(
        CheckQueries(table_, split, {{0, 3}, {0, 200}, {0, 2}, {0, 77}, {1, 5}}, Style::kExtreme, random));
  }
}

TEST_P(Attention, merging_and_finishing_equal_the_law) {
  Random random(24);
  for (const uint32_t head_size : {16u, 64u, 80u, 256u}) {
    for (const Style style : kStyles) {
      std::vector<float> running = RandomFloats(random, kernels::kPartOut + head_size, style);
      std::vector<float> next = RandomFloats(random, kernels::kPartOut + head_size, style);
      running[1] = 1.5f;
      next[1] = 200.25f;
      std::vector<float> law_out(running.begin() + kernels::kPartOut, running.end()),
          next_out(next.begin() + kernels::kPartOut, next.end());
      arith::AttentionPart law{running[0], running[1], law_out.data()};
      arith::MergeAttention(&law, {next[0], next[1], next_out.data()}, head_size);
      table_.merge_attention(running.data(), next.data(), head_size);
      EXPECT_EQ(std::memcmp(&running[0], &law.max, sizeof(float)), 0);
      EXPECT_EQ(std::memcmp(&running[1], &law.sum, sizeof(float)), 0);
      EXPECT_EQ(std::memcmp(&running[kernels::kPartOut], law_out.data(), head_size * sizeof(float)), 0);
      std::vector<float> actual(head_size), expected(head_size);
      arith::FinishAttention(law, head_size, expected.data());
      table_.finish_attention(running.data(), head_size, actual.data());
      EXPECT_EQ(std::memcmp(actual.data(), expected.data(), head_size * sizeof(float)), 0);
    }
  }
}

TEST_P(Attention, cache_rounds_to_nearest_even_with_gradual_underflow_and_infinity) {
  // Every f16 number, the midpoints between neighbours and what lies beside them.
  const HeadPage layout{CacheType::kF16, 16, 16};
  const auto page = kernels::AllocateAligned(layout.bytes());
  std::vector<float> inputs;
  for (uint32_t half = 0; half < 0x7c00; ++half) {
    const float value = arith::F16ToF32(static_cast<uint16_t>(half));
    const float next = half == 0x7bff ? 65536.0f : arith::F16ToF32(static_cast<uint16_t>(half + 1));
    const float middle = value + (next - value) / 2;
    const uint32_t bits = arith::BitsOf(middle);
    for (const float candidate : {value, middle, arith::FloatOf(bits - 1), arith::FloatOf(bits + 1)}) {
      inputs.push_back(candidate);
      inputs.push_back(-candidate);
    }
  }
  for (const float value : {1e10f, 65519.9f, 65520.0f, 1e-10f, 0x1p-25f, 0x1.000002p-25f, 0x1p-149f})
    inputs.push_back(value);
  while (inputs.size() % 16 != 0) inputs.push_back(0);
  for (size_t i = 0; i < inputs.size(); i += 16) {
    const uint32_t token = i / 16 % 16;
    table_.store_key_value(layout, page.get(), token, &inputs[i], &inputs[i]);
    const auto* keys = reinterpret_cast<const uint16_t*>(page.get());
    const auto* values = reinterpret_cast<const uint16_t*>(page.get() + layout.value_offset());
    for (uint32_t d = 0; d < 16; ++d) {
      ASSERT_EQ(values[token * 16 + d], arith::F32ToF16(inputs[i + d])) << inputs[i + d];
      ASSERT_EQ(keys[d * 16 + token], arith::F32ToF16(inputs[i + d])) << inputs[i + d];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Attention, ::testing::ValuesIn(kernels::AvailableIsas()),
                         [](const auto& info) { return std::string(kernels::IsaName(info.param)); });

}  // namespace
}  // namespace samebit::conformance
