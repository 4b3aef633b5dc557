#include "cli/terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "world/environment.h"

namespace samebit::cli {

Terminal DetectTerminal() {
  Terminal terminal;
  terminal.input_is_terminal = isatty(STDIN_FILENO) == 1;
  terminal.output_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.errors_are_terminal = isatty(STDERR_FILENO) == 1;
  // no-color.org: present and not empty, whatever its value.
  const bool refused = !world::EnvironmentVariable("NO_COLOR").value_or("").empty();
  const bool dumb = world::EnvironmentVariable("TERM").value_or("") == "dumb";
  terminal.colour = terminal.output_is_terminal && !refused && !dumb;
  return terminal;
}

void ProgressBar::Show(uint64_t done, uint64_t total, std::string_view note) {
  if (!shown_ || total == 0) return;
  constexpr uint64_t kWidth = 30;
  const uint64_t filled = kWidth * std::min(done, total) / total;
  std::string line = label_ + " [" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "] " +
                     std::to_string(100 * std::min(done, total) / total) + "%";
  if (!note.empty()) line += "  " + std::string(note.substr(0, 40));
  if (line == drawn_) return;
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  drawn_ = std::move(line);
}

void ProgressBar::Erase() {
  if (drawn_.empty()) return;
  std::fputs("\r\033[K", stderr);
  drawn_.clear();
}

bool WriteOut(std::string_view bytes) {
  return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0;
}

LineEvent ReadLine(std::string& line) {
  line.clear();
  while (true) {
    char c = 0;
    const ssize_t count = read(STDIN_FILENO, &c, 1);
    if (count < 0 && errno == EINTR) return LineEvent::kInterrupted;
    if (count <= 0) return line.empty() ? LineEvent::kEnd : LineEvent::kLine;
    if (c == '\n') return LineEvent::kLine;
    line += c;
  }
}

}  // namespace samebit::cli
