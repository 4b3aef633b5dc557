#include "world/log.h"

#include <cstdio>

namespace samebit::world {

std::string LogLine(LogLevel level, std::string_view message) {
  std::string line;
  if (level == LogLevel::kWarning) line = "warning: ";
  if (level == LogLevel::kError) line = "error: ";
  for (const char c : message) line += (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f ? '?' : c;
  return line;
}

void StderrLog::Write(LogLevel level, std::string_view message) {
  const std::string line = LogLine(level, message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call: lines of two threads do not mix
}

void MemoryLog::Write(LogLevel level, std::string_view message) {
  const std::lock_guard lock(mutex_);
  lines_.push_back(LogLine(level, message));
}

std::vector<std::string> MemoryLog::lines() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}

}  // namespace samebit::world
