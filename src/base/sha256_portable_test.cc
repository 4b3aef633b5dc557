#include "base/sha256_portable.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/digest.h"

namespace samebit {
namespace {

Sha256Digest Portable(const void* data, size_t data_bytes) {
  PortableSha256 hash;
  hash.Update(data, data_bytes);
  return {hash.Finish()};
}

TEST(PortableSha256, matches_the_published_vectors) {
  EXPECT_EQ(Portable("", 0).hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Portable("abc", 3).hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(PortableSha256, equals_openssl_at_every_length_up_to_1000_and_on_a_long_message) {
  std::vector<uint8_t> message(3'000'001);
  uint32_t state = 1;
  for (auto& byte : message) byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  for (size_t length = 0; length <= 1000; ++length)
    ASSERT_EQ(Portable(message.data(), length), Sha256::Of(message.data(), length)) << length;
  EXPECT_EQ(Portable(message.data(), message.size()), Sha256::Of(message.data(), message.size()));
}

TEST(PortableSha256, is_the_same_however_the_message_is_cut_and_can_be_used_again) {
  const std::string text(300, 'y');
  PortableSha256 hash;
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    hash.Update(text.data(), cut);
    hash.Update(text.data() + cut, text.size() - cut);
    ASSERT_EQ(Sha256Digest{hash.Finish()}, Sha256::Of(text)) << cut;
  }
}

}  // namespace
}  // namespace samebit
