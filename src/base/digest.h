// SHA-256, incremental and in one call. Wraps OpenSSL's EVP; any thread, one object per thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace samebit {

struct Sha256Digest {
  std::array<uint8_t, 32> bytes{};
  std::string hex() const;  // 64 lower-case characters
  auto operator<=>(const Sha256Digest&) const = default;
};

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;             // the moved-from object may only be destroyed or assigned to
  Sha256& operator=(Sha256&&) noexcept;

  void Update(const void* data, size_t data_bytes);
  void Update(std::string_view text) { Update(text.data(), text.size()); }
  // Ends the message and starts a new one.
  Sha256Digest Finish();

  static Sha256Digest Of(const void* data, size_t data_bytes);
  static Sha256Digest Of(std::string_view text) { return Of(text.data(), text.size()); }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace samebit
