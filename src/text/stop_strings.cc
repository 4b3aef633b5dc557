#include "text/stop_strings.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "text/utf8_stream.h"

namespace samebit::text {
namespace {

std::vector<uint32_t> BordersOf(std::string_view text) {
  std::vector<uint32_t> border(text.size(), 0);
  uint32_t length = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    while (length > 0 && text[i] != text[length]) length = border[length - 1];
    if (text[i] == text[length]) ++length;
    border[i] = length;
  }
  return border;
}

}  // namespace

Result<StopStringMatcher> StopStringMatcher::Make(const std::vector<std::string>& stops) {
  if (stops.size() > limits::kStopStringsMax) {
    return Error{ErrorCode::kTooLarge, "stop: " + std::to_string(stops.size()) + " strings, at most " +
                                           std::to_string(limits::kStopStringsMax) + " are taken"};
  }
  StopStringMatcher matcher;
  for (size_t i = 0; i < stops.size(); ++i) {
    const std::string where = "stop[" + std::to_string(i) + "]";
    if (stops[i].empty()) return Error{ErrorCode::kInvalidArgument, where + " is empty"};
    if (stops[i].size() > limits::kStopStringBytesMax) {
      return Error{ErrorCode::kTooLarge, where + " has " + std::to_string(stops[i].size()) + " bytes, at most " +
                                             std::to_string(limits::kStopStringBytesMax) + " are taken"};
    }
    if (!IsUtf8(stops[i])) return Error{ErrorCode::kInvalidArgument, where + " is not UTF-8"};
    matcher.stops_.push_back({stops[i], BordersOf(stops[i]), 0});
  }
  return matcher;
}

int StopStringMatcher::Advance(char byte) {
  int complete = -1;
  for (size_t i = 0; i < stops_.size(); ++i) {
    Stop& stop = stops_[i];
    while (stop.matched > 0 && stop.text[stop.matched] != byte) stop.matched = stop.border[stop.matched - 1];
    if (stop.text[stop.matched] == byte) ++stop.matched;
    if (stop.matched < stop.text.size()) continue;
    if (complete < 0 || stop.text.size() > stops_[complete].text.size()) complete = static_cast<int>(i);
  }
  return complete;
}

std::string StopStringMatcher::Push(std::string_view text) {
  if (found()) return "";
  for (char byte : text) {
    held_ += byte;
    found_index_ = Advance(byte);
    if (!found()) continue;
    held_.resize(held_.size() - stops_[found_index_].text.size());
    return std::exchange(held_, "");
  }
  uint32_t possible_stop = 0;
  for (const Stop& stop : stops_) possible_stop = std::max(possible_stop, stop.matched);
  std::string certain = held_.substr(0, held_.size() - possible_stop);
  held_.erase(0, certain.size());
  return certain;
}

std::string StopStringMatcher::Finish() { return std::exchange(held_, ""); }

}  // namespace samebit::text
