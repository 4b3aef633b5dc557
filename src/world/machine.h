// What this machine and this process are: for reports, defaults (threads, memory budget) and doctor. Never for a result.
// Linux only (/proc, /sys). Any thread.
#pragma once

#include <cstdint>
#include <string>

namespace samebit::world {

// The processor's own name, or "unknown".
std::string CpuModel();

// Cores that this process may use: the affinity mask, cut by the cgroup's CPU quota (rounded up). At least 1.
uint32_t CoresAvailable();

// The core that the calling thread runs on now.
int CurrentCpu();

struct MemoryState {
  uint64_t total_bytes = 0;      // of the machine, cut by the cgroup's limit
  uint64_t available_bytes = 0;  // what can be had without swapping, cut by what the cgroup has left
};
MemoryState Memory();

struct OwnMemory {
  uint64_t resident_bytes = 0;
  uint64_t resident_peak_bytes = 0;  // since the process began
};
OwnMemory ResidentMemory();

// Gives memory that was freed, but is kept for the next allocation, back to the operating system. For after a start, when
// what was needed to build is no longer needed.
void ReturnFreedMemory();

// This process's id: never 0, and another one in every process that runs at the same time.
uint64_t ProcessId();

// The parts that can be wrong, apart from reading the files, so that tests can hand in text.
// quota: content of cgroup v2's cpu.max ("max 100000" or "150000 100000"). 0: no limit.
uint32_t CoresOfCpuMax(const std::string& quota);
// The number after `name:` in text of the form of /proc/meminfo, in bytes; 0 where it is absent.
uint64_t KilobyteField(const std::string& text, const std::string& name);

}  // namespace samebit::world
