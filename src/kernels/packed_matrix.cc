#include "kernels/packed_matrix.h"

#include <cstdlib>
#include <cstring>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "arith/environment.h"
#include "base/check.h"
#include "kernels/layout.h"

namespace samebit::kernels {

namespace {

using arith::WeightType;

constexpr uint16_t kOneF16 = 0x3c00;
constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;

const layout::Stream& StreamOf(WeightType type) {
  switch (type) {
    case WeightType::kQ4_0:
      return layout::kQ4_0;
    case WeightType::kQ4_1:
      return layout::kQ4_1;
    case WeightType::kQ5_0:
      return layout::kQ5_0;
    case WeightType::kQ5_1:
      return layout::kQ5_1;
    case WeightType::kQ8_0:
      return layout::kQ8_0;
    case WeightType::kQ4_K:
      return layout::kQ4_K;
    case WeightType::kQ5_K:
      return layout::kQ5_K;
    case WeightType::kQ6_K:
      return layout::kQ6_K;
    default:
      CHECK(false);
  }
}

uint32_t LoadWord(const void* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

uint16_t LoadHalf(const void* bytes) {
  uint16_t half;
  std::memcpy(&half, bytes, sizeof half);
  return half;
}

void StoreWord(uint8_t* bytes, uint32_t word) { std::memcpy(bytes, &word, sizeof word); }
void StoreHalf(uint8_t* bytes, uint16_t half) { std::memcpy(bytes, &half, sizeof half); }

// The 16 outputs of one stored super-block, unpacked: raw f16 units, integer sub-scales, codes.
struct UnpackedPanelBlock {
  uint16_t scale_unit[kPanelRows];
  uint16_t minimum_unit[kPanelRows];
  uint8_t sub_scales[kPanelRows][16];  // two's complement for Q6_K
  uint8_t sub_minimums[kPanelRows][16];
  uint8_t codes[kPanelRows][layout::kSuperBlockInputs];
};

// Reads row `lane` of the panel from a stored super-block.
void ReadSuperBlock(WeightType type, const layout::Stream& stream, const uint8_t* stored, uint32_t lane,
                    UnpackedPanelBlock* out) {
  float scales[16], minimums[16];
  // With its f16 units replaced by 1 a super-block's scales are its integer sub-scales.
  uint8_t copy[sizeof(arith::BlockQ6_K)];
  const uint32_t bytes = arith::Format(type).block_bytes;
  std::memcpy(copy, stored, bytes);
  const uint32_t unit_at = type == WeightType::kQ6_K ? offsetof(arith::BlockQ6_K, d) : 0;
  StoreHalf(copy + unit_at, kOneF16);
  if (stream.has_minimum) StoreHalf(copy + 2, kOneF16);
  arith::UnpackBlock(type, copy, out->codes[lane], scales, minimums);
  const uint32_t groups = stream.groups * layout::kPayloadsPerSuperBlock;
  for (uint32_t group = 0; group < groups; ++group) {
    out->sub_scales[lane][group] = static_cast<uint8_t>(static_cast<int32_t>(scales[group]));
    out->sub_minimums[lane][group] = stream.has_minimum ? static_cast<uint8_t>(-minimums[group]) : 0;
  }
  out->scale_unit[lane] = LoadHalf(stored + unit_at);
  out->minimum_unit[lane] = stream.has_minimum ? LoadHalf(stored + 2) : 0;
}

// Blocks of 32: a stored word holds four codes and, for nibbles, the four that are 16 further on, which is what a packed
// word holds. So packing is a transposition of words, several times faster than unpacking codes one by one.
void WriteStoredBlock(const layout::Stream& stream, const uint8_t* stored, uint32_t lane, uint8_t* out) {
  StoreHalf(out + 2 * lane, LoadHalf(stored));
  stored += 2;
  if (stream.has_minimum) {
    StoreHalf(out + layout::kHalvesBytes + 2 * lane, LoadHalf(stored));
    stored += 2;
  }
  out += stream.payload_offset + 4 * lane;
  if (stream.code_bits == 8) {
    // Signed to unsigned: + 128 in each byte.
    for (uint32_t g = 0; g < 8; ++g) StoreWord(out + g * 64, LoadWord(stored + 4 * g) ^ 0x80808080u);
    return;
  }
  if (stream.code_bits == 5) {
    const uint32_t high = LoadWord(stored);
    stored += 4;
    uint32_t plane = 0;
    // Four bits to the lowest bits of four bytes: the products of the multiplication do not meet.
    for (uint32_t g = 0; g < 8; ++g) plane |= ((((high >> (4 * g)) & 15u) * 0x00204081u) & 0x01010101u) << g;
    StoreWord(out + layout::kNibbleBytes, plane);
  }
  for (uint32_t g = 0; g < 4; ++g) StoreWord(out + g * 64, LoadWord(stored + 4 * g));
}

void WritePayload(uint32_t code_bits, const UnpackedPanelBlock& block, uint32_t first_input, uint8_t* out) {
  for (uint32_t j = 0; j < kPanelRows; ++j) {
    const uint8_t* codes = &block.codes[j][first_input];
    uint32_t planes[2] = {0, 0};
    for (uint32_t g = 0; g < 8; ++g) {
      const uint32_t high = LoadWord(codes + 4 * g) >> 4;
      if (code_bits == 5) planes[0] |= (high & 0x01010101u) << g;
      if (code_bits == 6) planes[g / 4] |= (high & 0x03030303u) << (2 * (g % 4));
    }
    for (uint32_t g = 0; g < 4; ++g) {
      const uint32_t low = LoadWord(codes + 4 * g) & 0x0f0f0f0fu;
      const uint32_t high = LoadWord(codes + 4 * (g + 4)) & 0x0f0f0f0fu;
      StoreWord(out + (g * 16 + j) * 4, low | (high << 4));
    }
    for (uint32_t plane = 0; plane < code_bits - 4; ++plane)
      StoreWord(out + layout::kNibbleBytes + plane * layout::kPlaneBytes + 4 * j, planes[plane]);
  }
}

void WriteSuperBlock(const layout::Stream& stream, const UnpackedPanelBlock& block, uint8_t* out) {
  for (uint32_t j = 0; j < kPanelRows; ++j) {
    StoreHalf(out + 2 * j, block.scale_unit[j]);
    if (stream.has_minimum) StoreHalf(out + layout::kHalvesBytes + 2 * j, block.minimum_unit[j]);
  }
  const uint32_t groups = stream.groups * layout::kPayloadsPerSuperBlock;
  uint8_t* scales = out + layout::kHalvesBytes * (stream.has_minimum ? 2 : 1);
  uint8_t* minimums = scales + groups * kPanelRows;
  for (uint32_t group = 0; group < groups; ++group) {
    for (uint32_t j = 0; j < kPanelRows; ++j) {
      scales[group * kPanelRows + j] = block.sub_scales[j][group];
      if (stream.has_minimum) minimums[group * kPanelRows + j] = block.sub_minimums[j][group];
    }
  }
  for (uint32_t payload = 0; payload < stream.block_inputs / layout::kBlockInputs; ++payload)
    WritePayload(stream.code_bits, block, payload * layout::kBlockInputs,
                 out + stream.payload_offset + payload * stream.payload_bytes);
}

uint32_t ReadCode(uint32_t code_bits, const uint8_t* payload, uint32_t lane, uint32_t input) {
  const uint32_t g = input / 4, at = 4 * lane + input % 4;
  if (code_bits == 8) return payload[g * 64 + at];
  const uint32_t byte = payload[(g % 4) * 64 + at];
  const uint32_t nibble = g < 4 ? byte & 15 : byte >> 4;
  const uint8_t* planes = payload + layout::kNibbleBytes;
  if (code_bits == 5) return nibble | (((planes[at] >> g) & 1u) << 4);
  if (code_bits == 6) return nibble | (((planes[(g / 4) * layout::kPlaneBytes + at] >> (2 * (g % 4))) & 3u) << 4);
  return nibble;
}

void UnpackQuantizedRow(const layout::Stream& stream, const uint8_t* panel, uint32_t lane, uint32_t columns,
                        float* out) {
  for (uint32_t first = 0; first < columns; first += stream.block_inputs, panel += stream.block_bytes) {
    const float scale_unit = arith::F16ToF32(LoadHalf(panel + 2 * lane));
    const float minimum_unit =
        stream.has_minimum ? arith::F16ToF32(LoadHalf(panel + layout::kHalvesBytes + 2 * lane)) : 0;
    const uint8_t* scales = panel + layout::kHalvesBytes * (stream.has_minimum ? 2 : 1);
    const uint8_t* minimums = scales + stream.groups * layout::kPayloadsPerSuperBlock * kPanelRows;
    const uint32_t group_inputs = layout::kBlockInputs / stream.groups;
    for (uint32_t i = 0; i < stream.block_inputs; ++i) {
      const uint8_t* payload = panel + stream.payload_offset + i / layout::kBlockInputs * stream.payload_bytes;
      const uint32_t code = ReadCode(stream.code_bits, payload, lane, i % layout::kBlockInputs);
      float scale = scale_unit, minimum = minimum_unit;
      if (stream.super_blocks) {
        const uint32_t at = i / group_inputs * kPanelRows + lane;
        scale = scale_unit * (stream.groups == 2 ? static_cast<float>(static_cast<int8_t>(scales[at]))
                                                 : static_cast<float>(scales[at]));
        minimum = stream.has_minimum ? -(minimum_unit * static_cast<float>(minimums[at])) : 0;
      }
      out[first + i] = arith::Fma(scale, static_cast<float>(static_cast<int32_t>(code) - stream.code_offset), minimum);
    }
  }
}

size_t PanelBytes(WeightType type, uint32_t columns) {
  const arith::WeightFormat& format = arith::Format(type);
  CHECK(columns % format.block_elements == 0);
  if (!format.quantized) return size_t{columns} * kPanelRows * format.block_bytes;
  const layout::Stream& stream = StreamOf(type);
  return size_t{columns} / stream.block_inputs * stream.block_bytes;
}

}  // namespace

void AlignedFree::operator()(const std::byte* memory) const { std::free(const_cast<std::byte*>(memory)); }

AlignedBytes AllocateAligned(size_t bytes) {
  const size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kCacheLine;
  const size_t whole = (bytes + alignment - 1) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, whole == 0 ? alignment : whole));
  CHECK(memory != nullptr);
#if defined(__linux__)
  // Advice only: a walk over weights meets 512 times fewer translations where the system grants it.
  if (alignment == kHugePage) (void)madvise(memory, whole, MADV_HUGEPAGE);
#endif
  return AlignedBytes(memory);
}

PackedMatrix::PackedMatrix(WeightType type, uint32_t rows, uint32_t columns)
    : type_(type), rows_(rows), columns_(columns), panel_bytes_(PanelBytes(type, columns)) {
  AlignedBytes memory = AllocateAligned(bytes() + layout::kMatrixSlackBytes);
  own_ = memory.get();
  data_ = std::shared_ptr<const std::byte>(memory.release(), AlignedFree());
}

PackedMatrix PackedMatrix::View(WeightType type, uint32_t rows, uint32_t columns,
                                std::shared_ptr<const std::byte> panels) {
  CHECK(reinterpret_cast<uintptr_t>(panels.get()) % layout::kMatrixAlignmentBytes == 0);
  PackedMatrix view;
  view.type_ = type;
  view.rows_ = rows;
  view.columns_ = columns;
  view.panel_bytes_ = PanelBytes(type, columns);
  view.data_ = std::move(panels);
  return view;
}

uint64_t PackedMatrix::BytesOf(WeightType type, uint32_t rows, uint32_t columns) {
  return uint64_t{PanelBytes(type, columns)} * ((uint64_t{rows} + kPanelRows - 1) / kPanelRows);
}

void PackedMatrix::PackPanels(const void* stored, std::span<const uint32_t> row_order, uint32_t panel_begin,
                              uint32_t panel_end) {
  CHECK(own_ != nullptr || rows_ == 0);
  CHECK(row_order.empty() || row_order.size() == rows_);
  const arith::WeightFormat& format = arith::Format(type_);
  const uint64_t row_bytes = arith::StoredBytes(type_, columns_);
  const auto* bytes = static_cast<const uint8_t*>(stored);
  UnpackedPanelBlock block;
  for (uint32_t panel = panel_begin; panel < panel_end; ++panel) {
    const uint8_t* source[kPanelRows];  // null: an output beyond the last
    for (uint32_t j = 0; j < kPanelRows; ++j) {
      const uint32_t n = panel * kPanelRows + j;
      source[j] = n >= rows_ ? nullptr : bytes + row_bytes * (row_order.empty() ? n : row_order[n]);
    }
    auto* out = reinterpret_cast<uint8_t*>(own_ + panel_bytes_ * panel);
    if (!format.quantized) {
      const uint32_t size = format.block_bytes;
      for (uint32_t j = 0; j < kPanelRows; ++j) {
        for (uint32_t k = 0; k < columns_; ++k) {
          uint8_t* element = out + (size_t{k} * kPanelRows + j) * size;
          if (source[j] == nullptr) {
            std::memset(element, 0, size);
          } else if (size == 4) {
            StoreWord(element, LoadWord(source[j] + 4 * size_t{k}));
          } else {
            StoreHalf(element, LoadHalf(source[j] + 2 * size_t{k}));
          }
        }
      }
      continue;
    }
    const layout::Stream& stream = StreamOf(type_);
    if (!stream.super_blocks) {
      if (source[kPanelRows - 1] == nullptr) std::memset(out, 0, panel_bytes_);
      for (uint32_t b = 0; b < columns_ / stream.block_inputs; ++b, out += stream.block_bytes)
        for (uint32_t j = 0; j < kPanelRows && source[j] != nullptr; ++j)
          WriteStoredBlock(stream, source[j] + size_t{b} * format.block_bytes, j, out);
      continue;
    }
    std::memset(&block, 0, sizeof block);
    for (uint32_t b = 0; b < columns_ / stream.block_inputs; ++b, out += stream.block_bytes) {
      for (uint32_t j = 0; j < kPanelRows; ++j)
        if (source[j] != nullptr) ReadSuperBlock(type_, stream, source[j] + size_t{b} * format.block_bytes, j, &block);
      WriteSuperBlock(stream, block, out);
    }
  }
}

void PackedMatrix::UnpackRow(uint32_t n, float* out) const {
  CHECK(n < rows_);
  const auto* bytes = reinterpret_cast<const uint8_t*>(panel(n / kPanelRows));
  const uint32_t lane = n % kPanelRows;
  if (arith::Format(type_).quantized) {
    UnpackQuantizedRow(StreamOf(type_), bytes, lane, columns_, out);
    return;
  }
  const uint32_t size = arith::Format(type_).block_bytes;
  for (uint32_t k = 0; k < columns_; ++k)
    arith::Dequantize(type_, bytes + (size_t{k} * kPanelRows + lane) * size, 1, out + k);
}

QuantizedRows::QuantizedRows(uint32_t rows_max, uint32_t columns_max) {
  Reshape(columns_max);
  const size_t blocks = columns_max / layout::kBlockInputs;
  codes_ = AllocateAligned(size_t{rows_max} * code_stride_);
  scales_ = AllocateAligned(size_t{rows_max} * blocks * sizeof(float));
  scaled_sums_ = AllocateAligned(size_t{rows_max} * blocks * sizeof(float));
  half_sums_ = AllocateAligned(size_t{rows_max} * blocks * 2 * sizeof(int32_t));
}

void QuantizedRows::Reshape(uint32_t columns) {
  CHECK(columns % layout::kBlockInputs == 0);
  columns_ = columns;
  // An odd number of cache lines: rows that are read together do not fall into the same cache sets.
  const size_t lines = (size_t{columns} + kCacheLine - 1) / kCacheLine;
  code_stride_ = (lines | 1) * kCacheLine;
}

arith::QuantizedRow QuantizedRows::row(uint32_t m) const {
  const size_t blocks = scale_stride();
  return {reinterpret_cast<int8_t*>(codes_.get() + m * code_stride_),
          reinterpret_cast<float*>(scales_.get()) + m * blocks,
          reinterpret_cast<float*>(scaled_sums_.get()) + m * blocks,
          reinterpret_cast<int32_t*>(half_sums_.get()) + m * blocks * 2};
}

arith::QuantizedRow QuantizedRows::row(uint32_t m) { return static_cast<const QuantizedRows*>(this)->row(m); }

}  // namespace samebit::kernels
