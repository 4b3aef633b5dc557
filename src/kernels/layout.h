// The bytes of a packed panel, for the packer and for the kernels. Constants only: this file is read by units that are
// compiled for different instruction sets, so it defines nothing that a linker could share between them.
//
// A panel is 16 outputs (lane j = output 16 * panel + j; missing outputs are zero). It is one stream, read forwards.
//
// Float types:        [K][16] elements as stored.
//
// Blocks of 32 inputs (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0), one after the other:
//     +0    f16 scale[16]
//     +32   f16 minimum[16]                 only Q4_1, Q5_1
//     ...   payload of 32 inputs
//
// Super-blocks of 256 inputs (Q4_K, Q5_K):        Q6_K:
//     +0    f16 scale unit[16]                    +0    f16 scale unit[16]
//     +32   f16 minimum unit[16]                  +32   i8 scale[16 groups][16]
//     +64   u8 scale[8 groups][16]                +288  8 payloads
//     +192  u8 minimum[8 groups][16]
//     +320  8 payloads
//
// Payload: codes unsigned, four consecutive inputs of one output side by side (a quad is what one lane of a
// byte-dot-product instruction takes). Quad g holds inputs 4g .. 4g+3, t is the place in the quad.
//     4 to 6 bits   256 bytes (g < 4, j, t) at (g * 16 + j) * 4 + t: low nibble quad g, high nibble quad g + 4
//     5 bits        + 64 bytes (j, t): bit g = bit 4 of the code in quad g
//     6 bits        + 2 x 64 bytes (j, t): plane g / 4, bits 2 (g % 4) and up = bits 4 and 5 of the code in quad g
//     8 bits        512 bytes (g < 8, j, t): the code, which is the signed weight + 128
//
// Every matrix begins at a cache line and is followed by one more that may be read (kMatrixSlackBytes): kernels fetch
// ahead of what they use, and a wide load of the last header reaches past it. Packed panels may be kept in a file
// (engine/packed_file.h), so the layout has a version.
#pragma once

#include <cstdint>

namespace samebit::kernels::layout {

// Rises with every change of a packed byte: of what is drawn above, and of which stored row becomes which output. A file
// of another version is packed anew; a change without a new number would compute with bytes of the old meaning.
inline constexpr uint32_t kLayoutVersion = 1;
inline constexpr uint32_t kMatrixAlignmentBytes = 64;
inline constexpr uint32_t kMatrixSlackBytes = 64;

inline constexpr uint32_t kLanes = 16;
inline constexpr uint32_t kBlockInputs = 32;         // one payload, one activation scale
inline constexpr uint32_t kSuperBlockInputs = 256;
inline constexpr uint32_t kPayloadsPerSuperBlock = kSuperBlockInputs / kBlockInputs;

inline constexpr uint32_t kHalvesBytes = 2 * kLanes;  // 16 f16 numbers
inline constexpr uint32_t kNibbleBytes = 256;
inline constexpr uint32_t kPlaneBytes = 64;

consteval uint32_t PayloadBytes(uint32_t code_bits) {
  if (code_bits == 8) return 2 * kNibbleBytes;
  return kNibbleBytes + (code_bits - 4) * kPlaneBytes;
}

// What differs between the quantized formats, known at compile time.
struct Stream {
  uint32_t code_bits;
  int32_t code_offset;     // isum = sum(code * x) - code_offset * sum(x)
  bool has_minimum;
  bool super_blocks;
  uint32_t groups;         // scale groups in 32 inputs: 1, or 2 (Q6_K)
  uint32_t payload_bytes;
  uint32_t block_inputs;   // 32 or 256
  uint32_t payload_offset;  // of the first payload in a block
  uint32_t block_bytes;
};

consteval Stream Blocks(uint32_t code_bits, int32_t code_offset, bool has_minimum) {
  const uint32_t header = kHalvesBytes * (has_minimum ? 2 : 1);
  const uint32_t payload = PayloadBytes(code_bits);
  return {code_bits, code_offset, has_minimum, false, 1, payload, kBlockInputs, header, header + payload};
}

consteval Stream SuperBlocks(uint32_t code_bits, int32_t code_offset, bool has_minimum, uint32_t groups) {
  const uint32_t sub_scales = groups * kPayloadsPerSuperBlock * kLanes;
  const uint32_t header = (kHalvesBytes + sub_scales) * (has_minimum ? 2 : 1);
  const uint32_t payload = PayloadBytes(code_bits);
  return {code_bits, code_offset, has_minimum, true, groups, payload, kSuperBlockInputs, header,
          header + kPayloadsPerSuperBlock * payload};
}

inline constexpr Stream kQ4_0 = Blocks(4, 8, false);
inline constexpr Stream kQ4_1 = Blocks(4, 0, true);
inline constexpr Stream kQ5_0 = Blocks(5, 16, false);
inline constexpr Stream kQ5_1 = Blocks(5, 0, true);
inline constexpr Stream kQ8_0 = Blocks(8, 128, false);
inline constexpr Stream kQ4_K = SuperBlocks(4, 0, true, 1);
inline constexpr Stream kQ5_K = SuperBlocks(5, 0, true, 1);
inline constexpr Stream kQ6_K = SuperBlocks(6, 32, false, 2);

static_assert(kQ4_0.block_bytes == 288 && kQ4_1.block_bytes == 320 && kQ5_0.block_bytes == 352);
static_assert(kQ5_1.block_bytes == 384 && kQ8_0.block_bytes == 544);
static_assert(kQ4_K.payload_offset == 320 && kQ4_K.block_bytes == 2368 && kQ5_K.block_bytes == 2880);
static_assert(kQ6_K.payload_offset == 288 && kQ6_K.block_bytes == 3360);

}  // namespace samebit::kernels::layout
