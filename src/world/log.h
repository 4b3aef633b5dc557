// Where messages for the operator go. Libraries never print: they return errors, or are handed a LogSink.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace samebit::world {

enum class LogLevel { kInfo, kWarning, kError };

// Write may be called from any thread.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Write(LogLevel level, std::string_view message) = 0;
};

// One line per message on standard error.
class StderrLog final : public LogSink {
 public:
  void Write(LogLevel level, std::string_view message) override;
};

// Keeps the lines, for tests.
class MemoryLog final : public LogSink {
 public:
  void Write(LogLevel level, std::string_view message) override;
  std::vector<std::string> lines() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// The line as it is printed, without its end: "warning: message". Control characters of the message become '?', so
// that a hostile name cannot steer a terminal or forge a line.
std::string LogLine(LogLevel level, std::string_view message);

}  // namespace samebit::world
