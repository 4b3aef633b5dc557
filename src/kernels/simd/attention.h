// Rule A on 16 lanes. Scores: lane = key. Weighted values: lane = dimension. A group of queries that share the KV head
// reads each key and each value once.
#pragma once

#include "kernels/kernels.h"

namespace samebit::kernels {
namespace {

SAMEBIT_INLINE Floats LoadCached(const uint16_t* p) { return LoadHalves(p); }
SAMEBIT_INLINE Floats LoadCached(const float* p) { return Load(p); }
SAMEBIT_INLINE void StoreCached(uint16_t* p, Floats v) { StoreHalves(p, v); }
SAMEBIT_INLINE void StoreCached(float* p, Floats v) { Store(p, v); }

inline constexpr uint32_t kSplitKeys = arith::kAttentionSplitKeys;

// Up to kQueriesAtOnce queries of a call.
struct QueryGroup {
  uint32_t count = 0;
  const float* query[kQueriesAtOnce];
  uint32_t begin[kQueriesAtOnce], end[kQueriesAtOnce];
  float* part[kQueriesAtOnce];
  alignas(64) float scores[kQueriesAtOnce][kSplitKeys];
};

// The cache is asked for one page ahead, into the second level: its pages lie apart, so the hardware's prefetch begins
// anew with each, and the first level cannot wait for enough lines at once (docs/design/0019).
template <uint32_t kBytes>
SAMEBIT_INLINE void AskFor(const void* p) {
  for (uint32_t byte = 0; byte < kBytes; byte += 64) PrefetchFar(static_cast<const std::byte*>(p) + byte);
}

// [head_size][16 keys]
template <class Element>
SAMEBIT_INLINE const Element* KeyPanel(const AttentionSplitCall& call, uint32_t panel) {
  const uint32_t token = panel * 16, page_tokens = call.layout.page_tokens;
  return reinterpret_cast<const Element*>(call.pages[token / page_tokens]) +
         size_t{token % page_tokens} * call.layout.head_size;
}

// [keys of the page from `key` on][head_size]
template <class Element>
SAMEBIT_INLINE const Element* Values(const AttentionSplitCall& call, uint32_t key) {
  const uint32_t page_tokens = call.layout.page_tokens;
  return reinterpret_cast<const Element*>(call.pages[key / page_tokens] + call.layout.value_offset()) +
         size_t{key % page_tokens} * call.layout.head_size;
}

// scores[q][16 * panel ..] for kPanels panels of keys of [first, panel_end), one chain over the dimension per key and
// query.
template <class Element, uint32_t kQueries, uint32_t kPanels>
SAMEBIT_INLINE void ScorePanels(const AttentionSplitCall& call, QueryGroup* group, uint32_t panel, uint32_t first,
                                uint32_t panel_end) {
  const uint32_t head_size = call.layout.head_size;
  constexpr uint32_t kDimensionsPerLine = 64 / (16 * sizeof(Element));
  const Element *keys[kPanels], *next[kPanels];
  for (uint32_t p = 0; p < kPanels; ++p) {
    keys[p] = KeyPanel<Element>(call, panel + p);
    const uint32_t after = panel + kPanels + p;
    next[p] = after < panel_end ? KeyPanel<Element>(call, after) : Values<Element>(call, (first + p) * 16);
  }
  Floats acc[kQueries][kPanels];
  for (uint32_t q = 0; q < kQueries; ++q)
    for (uint32_t p = 0; p < kPanels; ++p) acc[q][p] = Splat(0.0f);
  for (uint32_t d = 0; d < head_size; ++d) {
    if (d % kDimensionsPerLine == 0)
      for (uint32_t p = 0; p < kPanels; ++p) AskFor<64>(next[p] + 16 * size_t{d});
    Floats key[kPanels];
    for (uint32_t p = 0; p < kPanels; ++p) key[p] = LoadCached(keys[p] + 16 * size_t{d});
    for (uint32_t q = 0; q < kQueries; ++q) {
      const Floats x = Splat(group->query[q][d]);
      for (uint32_t p = 0; p < kPanels; ++p) acc[q][p] = Fma(x, key[p], acc[q][p]);
    }
  }
  for (uint32_t q = 0; q < kQueries; ++q)
    for (uint32_t p = 0; p < kPanels; ++p) Store(group->scores[q] + (panel + p) * 16, acc[q][p]);
}

template <class Element, uint32_t kQueries>
void Scores(const AttentionSplitCall& call, QueryGroup* group) {
  uint32_t first = kSplitKeys, last = 0;
  for (uint32_t q = 0; q < kQueries; ++q) {
    first = group->begin[q] < first ? group->begin[q] : first;
    last = group->end[q] > last ? group->end[q] : last;
  }
  const uint32_t first_panel = first / 16, panel_end = (last + 15) / 16;
  uint32_t panel = first_panel;
  for (; panel + kKeyPanelsAtOnce <= panel_end; panel += kKeyPanelsAtOnce)
    ScorePanels<Element, kQueries, kKeyPanelsAtOnce>(call, group, panel, first_panel, panel_end);
  for (; panel < panel_end; ++panel) ScorePanels<Element, kQueries, 1>(call, group, panel, first_panel, panel_end);
}

// Turns the scores of one query into weights in place; part[0] = max, part[1] = sum.
SAMEBIT_INLINE void Weights(float* scores, uint32_t begin, uint32_t end, float* part) {
  // Lanes of keys that the query does not see: minus infinity never wins and weighs exactly 0.
  const uint32_t first = begin / 16 * 16, last = (end + 15) / 16 * 16;
  for (uint32_t j = first; j < begin; ++j) scores[j] = kMinusInfinity;
  for (uint32_t j = end; j < last; ++j) scores[j] = kMinusInfinity;
  // Every lane starts from the first visible score: a later equal one does not replace it, nor does any replace NaN.
  Floats maxes = Splat(scores[begin]);
  for (uint32_t j = first; j < last; j += 16) maxes = Max(Load(scores + j), maxes);
  float max = LargestLane(maxes);
  if (max == 0.0f) max = scores[begin + FirstEqual(scores + begin, end - begin, max)];  // the sign of the first zero
  const Floats largest = Splat(max);
  Floats lanes = Splat(0.0f);
  for (uint32_t j = first; j < last; j += 16) {
    const Floats p = ExpNeg(Sub(Load(scores + j), largest));
    Store(scores + j, p);
    lanes = Add(lanes, p);
  }
  part[0] = max;
  part[1] = Fold(lanes);
}

// out[q][dimension ..] continues its chain over keys [begin, end), for kVectors * 16 dimensions.
template <class Element, uint32_t kQueries, uint32_t kVectors>
SAMEBIT_INLINE void AddValues(const AttentionSplitCall& call, const float* const* weights, float* const* out,
                              uint32_t dimension, uint32_t begin, uint32_t end) {
  const uint32_t head_size = call.layout.head_size, page_tokens = call.layout.page_tokens;
  Floats acc[kQueries][kVectors];
  for (uint32_t q = 0; q < kQueries; ++q)
    for (uint32_t v = 0; v < kVectors; ++v) acc[q][v] = Load(out[q] + dimension + 16 * v);
  for (uint32_t j = begin; j < end;) {
    const uint32_t in_page = j % page_tokens;
    const uint32_t count = page_tokens - in_page < end - j ? page_tokens - in_page : end - j;
    const Element* values = Values<Element>(call, j) + dimension;
    const Element* next = values;
    if (j + count < end)
      next = Values<Element>(call, j + count) + dimension;
    else if (call.next_keys != nullptr)
      next = reinterpret_cast<const Element*>(call.next_keys) + dimension;
    for (uint32_t i = 0; i < count; ++i, values += head_size, next += head_size) {
      AskFor<kVectors * 16 * sizeof(Element)>(next);
      Floats value[kVectors];
      for (uint32_t v = 0; v < kVectors; ++v) value[v] = LoadCached(values + 16 * v);
      for (uint32_t q = 0; q < kQueries; ++q) {
        const Floats p = Splat(weights[q][j + i]);
        for (uint32_t v = 0; v < kVectors; ++v) acc[q][v] = Fma(p, value[v], acc[q][v]);
      }
    }
    j += count;
  }
  for (uint32_t q = 0; q < kQueries; ++q)
    for (uint32_t v = 0; v < kVectors; ++v) Store(out[q] + dimension + 16 * v, acc[q][v]);
}

template <class Element, uint32_t kQueries>
void AddAllValues(const AttentionSplitCall& call, const float* const* weights, float* const* out, uint32_t begin,
                  uint32_t end) {
  if (begin >= end) return;
  const uint32_t head_size = call.layout.head_size;
  uint32_t d = 0;
  for (; d + 64 <= head_size; d += 64) AddValues<Element, kQueries, 4>(call, weights, out, d, begin, end);
  for (; d < head_size; d += 16) AddValues<Element, kQueries, 1>(call, weights, out, d, begin, end);
}

template <class Element, uint32_t kQueries>
void AttendGroup(const AttentionSplitCall& call, QueryGroup* group) {
  Scores<Element, kQueries>(call, group);
  // Keys that all queries of the group see are walked together, the rest one query at a time: a key outside a query's
  // range may not even be multiplied by 0, which could turn an underflowed -0 into +0.
  uint32_t common_begin = 0, common_end = kSplitKeys;
  const float* weights[kQueries];
  float* out[kQueries];
  for (uint32_t q = 0; q < kQueries; ++q) {
    Weights(group->scores[q], group->begin[q], group->end[q], group->part[q]);
    weights[q] = group->scores[q];
    out[q] = group->part[q] + kPartOut;
    for (uint32_t d = 0; d < call.layout.head_size; d += 16) Store(out[q] + d, Splat(0.0f));
    common_begin = group->begin[q] > common_begin ? group->begin[q] : common_begin;
    common_end = group->end[q] < common_end ? group->end[q] : common_end;
  }
  if (common_begin >= common_end) {
    for (uint32_t q = 0; q < kQueries; ++q)
      AddAllValues<Element, 1>(call, weights + q, out + q, group->begin[q], group->end[q]);
    return;
  }
  if constexpr (kQueries > 1)
    for (uint32_t q = 0; q < kQueries; ++q)
      AddAllValues<Element, 1>(call, weights + q, out + q, group->begin[q], common_begin);
  AddAllValues<Element, kQueries>(call, weights, out, common_begin, common_end);
  if constexpr (kQueries > 1)
    for (uint32_t q = 0; q < kQueries; ++q)
      AddAllValues<Element, 1>(call, weights + q, out + q, common_end, group->end[q]);
}

template <class Element, uint32_t kQueries = kQueriesAtOnce>
SAMEBIT_INLINE void AttendGroupOf(const AttentionSplitCall& call, QueryGroup* group) {
  if (group->count == kQueries) AttendGroup<Element, kQueries>(call, group);
  if constexpr (kQueries > 1)
    if (group->count < kQueries) AttendGroupOf<Element, kQueries - 1>(call, group);
}

template <class Element>
SAMEBIT_INLINE void AttendQueries(const AttentionSplitCall& call) {
  QueryGroup group;
  for (uint32_t q = 0; q < call.query_count; ++q) {
    if (call.begin[q] >= call.end[q]) continue;
    group.query[group.count] = call.queries[q];
    group.begin[group.count] = call.begin[q];
    group.end[group.count] = call.end[q];
    group.part[group.count] = call.parts + q * call.part_stride;
    if (++group.count == kQueriesAtOnce) {
      AttendGroup<Element, kQueriesAtOnce>(call, &group);
      group.count = 0;
    }
  }
  if (group.count > 0) AttendGroupOf<Element>(call, &group);
}

void AttentionSplit(const AttentionSplitCall& call) {
  if (call.layout.type == CacheType::kF16) {
    AttendQueries<uint16_t>(call);
  } else {
    AttendQueries<float>(call);
  }
}

void MergeAttention(float* running_part, const float* next_part, uint32_t head_size) {
  const float max = running_part[0] > next_part[0] ? running_part[0] : next_part[0];
  const float a = ExpNegOf(running_part[0] - max);
  const float b = ExpNegOf(next_part[0] - max);
  const Floats as = Splat(a), bs = Splat(b);
  running_part[0] = max;
  running_part[1] = FirstLane(Fma(Splat(next_part[1]), bs, Mul(Splat(running_part[1]), as)));
  for (uint32_t d = kPartOut; d < kPartOut + head_size; d += 16)
    Store(running_part + d, Fma(Load(next_part + d), bs, Mul(Load(running_part + d), as)));
}

void FinishAttention(const float* running_part, uint32_t head_size, float* out) {
  const float reciprocal = 1.0f / running_part[1];
  const Floats factor = Splat(reciprocal);
  for (uint32_t d = 0; d < head_size; d += 16) Store(out + d, Mul(Load(running_part + kPartOut + d), factor));
}

template <class Element>
SAMEBIT_INLINE void StoreKeyValueAs(const HeadPage& layout, std::byte* page, uint32_t token, const float* key,
                                    const float* value) {
  auto* keys = reinterpret_cast<Element*>(page) + size_t{token / 16 * 16} * layout.head_size + token % 16;
  auto* values = reinterpret_cast<Element*>(page + layout.value_offset()) + size_t{token} * layout.head_size;
  for (uint32_t d = 0; d < layout.head_size; d += 16) {
    alignas(64) Element rounded[16];
    StoreCached(rounded, Load(key + d));
    for (uint32_t i = 0; i < 16; ++i) keys[16 * size_t{d + i}] = rounded[i];
    StoreCached(values + d, Load(value + d));
  }
}

void StoreKeyValue(const HeadPage& layout, std::byte* page, uint32_t token, const float* key, const float* value) {
  if (layout.type == CacheType::kF16) {
    StoreKeyValueAs<uint16_t>(layout, page, token, key, value);
  } else {
    StoreKeyValueAs<float>(layout, page, token, key, value);
  }
}

}  // namespace
}  // namespace samebit::kernels
