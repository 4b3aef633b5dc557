// SHA-256 (FIPS 180-4) in plain C++, for builds without OpenSSL: the cross-built numeric programs and the golden-file
// program. Everything else uses Sha256 (digest.h), which is several times faster. Any thread, one object per thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace samebit {

class PortableSha256 {
 public:
  void Update(const void* data, size_t data_bytes);
  // Ends the message and starts a new one.
  std::array<uint8_t, 32> Finish();

 private:
  static constexpr std::array<uint32_t, 8> kInitial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  void Compress(const uint8_t* block);

  std::array<uint32_t, 8> state_ = kInitial;
  std::array<uint8_t, 64> pending_{};
  uint64_t message_bytes_ = 0;
};

}  // namespace samebit
