// The terminal: whether there is one, a progress bar on standard error, and lines typed by a person.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace samebit::cli {

struct Terminal {
  bool input_is_terminal = false;
  bool output_is_terminal = false;
  bool errors_are_terminal = false;
  bool colour = false;  // standard output is a terminal, NO_COLOR is not set, TERM is not "dumb"
};

Terminal DetectTerminal();

// One line on standard error that is drawn again and again and erased at the end; silent where standard error is not a
// terminal. Not thread safe.
class ProgressBar {
 public:
  ProgressBar(const Terminal& terminal, std::string label)
      : shown_(terminal.errors_are_terminal), label_(std::move(label)) {}
  ~ProgressBar() { Erase(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Draws only when the picture changes. `note` stands behind the bar.
  void Show(uint64_t done, uint64_t total, std::string_view note = "");
  void Erase();

 private:
  bool shown_;
  std::string label_;
  std::string drawn_;
};

// Bytes to standard output, at once. False where nobody reads any more.
bool WriteOut(std::string_view bytes);

enum class LineEvent { kLine, kEnd, kInterrupted };
// The next line of standard input without its end. kInterrupted: a signal came first.
LineEvent ReadLine(std::string& line);

}  // namespace samebit::cli
