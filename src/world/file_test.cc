#include "world/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace samebit::world {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "samebit_file_test_" + std::to_string(::getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(FileTest, writes_reads_and_maps_the_same_bytes) {
  const std::string content("a\0b\n", 4);
  ASSERT_TRUE(WriteFileAtomically(Path("x"), content).ok());
  EXPECT_EQ(*ReadWholeFile(Path("x"), 4), content);
  Result<MappedFile> mapped = MappedFile::Open(Path("x"));
  ASSERT_TRUE(mapped.ok());
  ASSERT_EQ(mapped->bytes().size(), 4u);
  EXPECT_EQ(std::memcmp(mapped->bytes().data(), content.data(), 4), 0);
  mapped->ReleasePages();
  EXPECT_EQ(std::memcmp(mapped->bytes().data(), content.data(), 4), 0);
}

TEST_F(FileTest, replaces_a_file_and_leaves_nothing_else_behind) {
  ASSERT_TRUE(WriteFileAtomically(Path("x"), "old").ok());
  ASSERT_TRUE(WriteFileAtomically(Path("x"), "new").ok());
  EXPECT_EQ(*ReadWholeFile(Path("x"), 10), "new");
  EXPECT_EQ(*ListFolder(folder_), std::vector<std::string>{"x"});
}

TEST_F(FileTest, leaves_no_temporary_file_when_the_target_cannot_be_replaced) {
  std::filesystem::create_directories(Path("x/y"));
  const Status status = WriteFileAtomically(Path("x"), "new");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_EQ(*ListFolder(folder_), std::vector<std::string>{"x"});
}

TEST_F(FileTest, refuses_a_file_over_the_bound) {
  ASSERT_TRUE(WriteFileAtomically(Path("x"), "12345").ok());
  EXPECT_EQ(ReadWholeFile(Path("x"), 4).error().code, ErrorCode::kTooLarge);
}

TEST_F(FileTest, tells_absent_from_unreadable) {
  EXPECT_EQ(MappedFile::Open(Path("no")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ReadWholeFile(Path("no"), 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ListFolder(Path("no")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(MappedFile::Open(folder_).error().code, ErrorCode::kIo);
  EXPECT_EQ(WriteFileAtomically(Path("no/x"), "").error().code, ErrorCode::kIo);
}

TEST_F(FileTest, does_not_wait_at_a_named_pipe) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::Open(Path("pipe")).error().code, ErrorCode::kIo);
}

TEST_F(FileTest, maps_an_empty_file_to_no_bytes) {
  ASSERT_TRUE(WriteFileAtomically(Path("empty"), "").ok());
  Result<MappedFile> mapped = MappedFile::Open(Path("empty"));
  ASSERT_TRUE(mapped.ok());
  EXPECT_TRUE(mapped->bytes().empty());
  mapped->ReleasePages();
}

TEST_F(FileTest, a_moved_map_stays_valid) {
  ASSERT_TRUE(WriteFileAtomically(Path("x"), "abc").ok());
  Result<MappedFile> mapped = MappedFile::Open(Path("x"));
  ASSERT_TRUE(mapped.ok());
  const MappedFile moved = std::move(*mapped);
  EXPECT_EQ(moved.bytes()[2], std::byte{'c'});
}

TEST_F(FileTest, lists_names_in_byte_order_and_knows_kinds) {
  ASSERT_TRUE(WriteFileAtomically(Path("b"), "").ok());
  ASSERT_TRUE(WriteFileAtomically(Path("B"), "").ok());
  std::filesystem::create_directories(Path("a"));
  EXPECT_EQ(*ListFolder(folder_), (std::vector<std::string>{"B", "a", "b"}));
  EXPECT_EQ(KindOf(Path("a")), PathKind::kFolder);
  EXPECT_EQ(KindOf(Path("b")), PathKind::kFile);
  EXPECT_EQ(KindOf(Path("c")), PathKind::kAbsent);
  EXPECT_EQ(KindOf("/dev/null"), PathKind::kOther);
}

}  // namespace
}  // namespace samebit::world
