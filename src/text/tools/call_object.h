// One call as a JSON object, {"name": "f", "arguments": {...}}, read byte by byte: the arguments are given out as they
// come, in the model's own spelling. For the syntaxes of this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tools/tool_syntax.h"

namespace samebit::text {

class CallObject {
 public:
  // Takes one byte, the first one being '{'. False: this is no call; raw() is then text.
  // Once begun() it never says false, and done() comes with the object's closing brace.
  bool Push(char byte, std::vector<ToolEvent>& events);

  bool begun() const { return begun_; }  // the event kCall was given
  bool done() const { return place_ == Place::kDone; }
  const std::string& raw() const { return raw_; }  // everything so far, until begun()

 private:
  enum class Place { kStart, kBeforeKey, kKey, kAfterKey, kBeforeValue, kName, kValue, kAfterValue, kDone };

  bool PushKey(char byte);
  bool BeginValue(char byte, std::vector<ToolEvent>& events);
  bool PushValue(char byte, std::vector<ToolEvent>& events);
  void EndValue();
  void Begin(std::vector<ToolEvent>& events);

  Place place_ = Place::kStart;
  bool begun_ = false;
  std::string raw_, key_, name_, arguments_;
  bool has_name_ = false, has_arguments_ = false;
  bool is_arguments_ = false;  // of the value that is being read
  bool after_comma_ = false;
  // Inside of a value.
  uint32_t depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace samebit::text
