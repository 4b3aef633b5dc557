#include "world/machine.h"

#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

namespace samebit::world {
namespace {

// Files of /proc and /sys report size 0, so they are read to their end.
std::string ReadSystemFile(const char* path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::optional<uint64_t> LeadingNumber(const std::string& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  while (begin != end && (*begin == ' ' || *begin == '\t')) ++begin;
  uint64_t value = 0;
  if (std::from_chars(begin, end, value).ec != std::errc()) return std::nullopt;
  return value;
}

// The text after "name:" at the start of a line, up to the end of the line.
std::string FieldText(const std::string& text, const std::string& name) {
  size_t line = 0;
  while (line < text.size()) {
    const size_t end = std::min(text.find('\n', line), text.size());
    size_t after = line + name.size();
    if (text.compare(line, name.size(), name) == 0) {
      while (after < end && (text[after] == ' ' || text[after] == '\t')) ++after;
      if (after < end && text[after] == ':') {
        ++after;
        while (after < end && (text[after] == ' ' || text[after] == '\t')) ++after;
        return text.substr(after, end - after);
      }
    }
    line = end + 1;
  }
  return "";
}

}  // namespace

std::string CpuModel() {
  const std::string info = ReadSystemFile("/proc/cpuinfo");
  for (const char* name : {"model name", "Model", "CPU part"}) {  // the later two: arm64 kernels
    std::string model = FieldText(info, name);
    if (!model.empty()) return model;
  }
  return "unknown";
}

uint32_t CoresOfCpuMax(const std::string& quota) {
  const std::optional<uint64_t> allowed = LeadingNumber(quota);
  const size_t space = quota.find(' ');
  if (!allowed || space == std::string::npos) return 0;
  const std::optional<uint64_t> period = LeadingNumber(quota.substr(space));
  if (!period || *period == 0) return 0;
  const uint64_t cores = *allowed / *period + (*allowed % *period != 0 ? 1 : 0);
  return static_cast<uint32_t>(std::clamp<uint64_t>(cores, 1, 1 << 16));
}

int CurrentCpu() { return sched_getcpu(); }

uint32_t CoresAvailable() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  uint32_t cores = 1;
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0) cores = static_cast<uint32_t>(CPU_COUNT(&mask));
  const uint32_t quota = CoresOfCpuMax(ReadSystemFile("/sys/fs/cgroup/cpu.max"));
  if (quota != 0) cores = std::min(cores, quota);
  return std::max(cores, 1u);
}

uint64_t KilobyteField(const std::string& text, const std::string& name) {
  return LeadingNumber(FieldText(text, name)).value_or(0) * 1024;
}

MemoryState Memory() {
  const std::string info = ReadSystemFile("/proc/meminfo");
  MemoryState state{KilobyteField(info, "MemTotal"), KilobyteField(info, "MemAvailable")};
  const std::optional<uint64_t> limit = LeadingNumber(ReadSystemFile("/sys/fs/cgroup/memory.max"));
  const std::optional<uint64_t> used = LeadingNumber(ReadSystemFile("/sys/fs/cgroup/memory.current"));
  if (limit && *limit != 0 && *limit < state.total_bytes) {
    state.total_bytes = *limit;
    const uint64_t left = used && *used < *limit ? *limit - *used : 0;
    state.available_bytes = std::min(state.available_bytes, left);
  }
  return state;
}

OwnMemory ResidentMemory() {
  const std::string status = ReadSystemFile("/proc/self/status");
  return {KilobyteField(status, "VmRSS"), KilobyteField(status, "VmHWM")};
}

void ReturnFreedMemory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

uint64_t ProcessId() { return static_cast<uint64_t>(::getpid()); }

}  // namespace samebit::world
