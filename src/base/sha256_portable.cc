#include "base/sha256_portable.h"

#include <bit>
#include <cstring>

namespace samebit {

namespace {
// First 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t LoadBigEndian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}
}  // namespace

void PortableSha256::Compress(const uint8_t* block) {
  uint32_t schedule[64];
  for (int i = 0; i < 16; ++i) schedule[i] = LoadBigEndian(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = schedule[i - 15], b = schedule[i - 2];
    schedule[i] = schedule[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + schedule[i - 7] +
                  (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int i = 0; i < 64; ++i) {
    const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                           kRoundConstants[i] + schedule[i];
    const uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[i] += sums[i];
}

void PortableSha256::Update(const void* data, size_t data_bytes) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  while (data_bytes > 0) {
    const size_t used = message_bytes_ % 64;
    if (used == 0 && data_bytes >= 64) {
      Compress(bytes);
      bytes += 64, data_bytes -= 64, message_bytes_ += 64;
      continue;
    }
    const size_t taken = data_bytes < 64 - used ? data_bytes : 64 - used;
    std::memcpy(&pending_[used], bytes, taken);
    bytes += taken, data_bytes -= taken, message_bytes_ += taken;
    if (used + taken == 64) Compress(pending_.data());
  }
}

std::array<uint8_t, 32> PortableSha256::Finish() {
  // A one bit, zeros up to 56 bytes of the last block, and the length in bits.
  const uint64_t message_bits = message_bytes_ * 8;
  uint8_t padding[72] = {0x80};
  const size_t zeros_end = 1 + (119 - message_bytes_ % 64) % 64;
  for (int i = 0; i < 8; ++i) padding[zeros_end + i] = static_cast<uint8_t>(message_bits >> (56 - 8 * i));
  Update(padding, zeros_end + 8);
  std::array<uint8_t, 32> digest;
  for (int i = 0; i < 32; ++i) digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  *this = PortableSha256();
  return digest;
}

}  // namespace samebit
