// Stop strings: how much of a streamed text may be shown, and where it ends.
//
// The text that comes out is the same however it was cut into pieces. The stop that is complete first ends the text;
// of several that are complete at the same character the longest, which begins first. The stop itself is not given
// out, and nothing is given out that may still turn out to be the beginning of a stop.
// One object per stream; not thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace samebit::text {

class StopStringMatcher {
 public:
  // No stops: everything passes at once.
  // Failure: kInvalidArgument (an empty stop, one that is not UTF-8), kTooLarge (too many, too long: base/limits.h).
  static Result<StopStringMatcher> Make(const std::vector<std::string>& stops);

  // The next piece of text, in whole characters; returns what is now certain. After found() it returns "".
  std::string Push(std::string_view text);
  // The end of the text: what was held back, "" if a stop was found.
  std::string Finish();

  bool found() const { return found_index_ >= 0; }
  // Which of the stops ended the text; -1 while none has.
  int found_index() const { return found_index_; }

 private:
  // One stop with its failure function (Knuth, Morris, Pratt): border[i] is the length of the longest proper prefix of
  // the stop that ends its first i + 1 bytes.
  struct Stop {
    std::string text;
    std::vector<uint32_t> border;
    uint32_t matched = 0;  // bytes of the stop that end the text so far
  };

  // Takes one byte; returns the stop that it completes, or -1.
  int Advance(char byte);

  std::vector<Stop> stops_;
  std::string held_;
  int found_index_ = -1;
};

}  // namespace samebit::text
