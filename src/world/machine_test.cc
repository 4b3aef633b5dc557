#include "world/machine.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace samebit::world {
namespace {

TEST(Machine, reads_a_cpu_quota_rounded_up) {
  EXPECT_EQ(CoresOfCpuMax("max 100000\n"), 0u);
  EXPECT_EQ(CoresOfCpuMax("150000 100000\n"), 2u);
  EXPECT_EQ(CoresOfCpuMax("100000 100000\n"), 1u);
  EXPECT_EQ(CoresOfCpuMax("1 100000\n"), 1u);
  EXPECT_EQ(CoresOfCpuMax("100000 0\n"), 0u);
  EXPECT_EQ(CoresOfCpuMax(""), 0u);
  EXPECT_EQ(CoresOfCpuMax("5"), 0u);
}

TEST(Machine, reads_a_field_in_kilobytes) {
  const std::string text = "MemTotalX:  9 kB\nMemTotal:       12 kB\nMemAvailable:\t3 kB\n";
  EXPECT_EQ(KilobyteField(text, "MemTotal"), 12u * 1024);
  EXPECT_EQ(KilobyteField(text, "MemAvailable"), 3u * 1024);
  EXPECT_EQ(KilobyteField(text, "Mem"), 0u);
}

TEST(Machine, this_machine_has_cores_memory_and_a_name) {
  EXPECT_GE(CoresAvailable(), 1u);
  EXPECT_FALSE(CpuModel().empty());
  EXPECT_GT(Memory().total_bytes, 0u);
  EXPECT_LE(Memory().available_bytes, Memory().total_bytes);
}

TEST(Machine, own_memory_grows_with_use_and_the_peak_does_not_fall) {
  const OwnMemory before = ResidentMemory();
  uint64_t inside;
  {
    const std::vector<char> block(32 << 20, 1);
    inside = ResidentMemory().resident_bytes;
    EXPECT_EQ(block.back(), 1);
  }
  EXPECT_GE(inside, before.resident_bytes + (16 << 20));
  EXPECT_GE(ResidentMemory().resident_peak_bytes, before.resident_bytes + (16 << 20));
}

TEST(Machine, another_process_has_another_id) {
  const uint64_t own = ProcessId();
  EXPECT_NE(own, 0u);
  EXPECT_EQ(ProcessId(), own);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(ProcessId() == own ? 1 : 0);
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace samebit::world
