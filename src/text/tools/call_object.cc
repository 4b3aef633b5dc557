#include "text/tools/call_object.h"

namespace samebit::text {
namespace {

// A call's name is not longer; what comes before its arguments neither. Longer objects are text.
constexpr size_t kRawBytesMax = 64 << 10;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

bool CallObject::Push(char byte, std::vector<ToolEvent>& events) {
  if (!begun_) {
    raw_ += byte;
    if (raw_.size() > kRawBytesMax) return false;
  }
  switch (place_) {
    case Place::kStart:
      place_ = Place::kBeforeKey;
      return byte == '{';
    case Place::kBeforeKey:
      if (IsSpace(byte)) return true;
      if (byte == '"') {
        place_ = Place::kKey;
        key_.clear();
        return true;
      }
      if (begun_ && byte == '}' && !after_comma_) place_ = Place::kDone;
      return begun_;
    case Place::kKey:
      return PushKey(byte) || begun_;
    case Place::kAfterKey:
      if (byte == ':') place_ = Place::kBeforeValue;
      return byte == ':' || IsSpace(byte) || begun_;
    case Place::kBeforeValue:
      return IsSpace(byte) || BeginValue(byte, events) || begun_;
    case Place::kName:
      if (byte == '"' && !name_.empty()) {
        has_name_ = true;
        place_ = Place::kAfterValue;
        if (has_arguments_) Begin(events);
        return true;
      }
      // A name with escapes is none that a tool can have.
      if (byte == '"' || byte == '\\' || static_cast<unsigned char>(byte) < 0x20) return false;
      name_ += byte;
      return true;
    case Place::kValue:
      return PushValue(byte, events);
    case Place::kAfterValue:
      after_comma_ = byte == ',';
      if (byte == ',') place_ = Place::kBeforeKey;
      if (byte == '}') {
        if (!begun_) return false;  // no name, or no arguments
        place_ = Place::kDone;
      }
      return byte == ',' || byte == '}' || IsSpace(byte) || begun_;
    case Place::kDone:
      return begun_;
  }
  return false;
}

bool CallObject::PushKey(char byte) {
  if (byte == '"') {
    place_ = Place::kAfterKey;
    return true;
  }
  key_ += byte;
  return byte != '\\' && static_cast<unsigned char>(byte) >= 0x20;
}

bool CallObject::BeginValue(char byte, std::vector<ToolEvent>& events) {
  if (key_ == "name" && !has_name_) {
    place_ = Place::kName;
    return byte == '"';
  }
  is_arguments_ = (key_ == "arguments" || key_ == "parameters") && !has_arguments_;
  if (is_arguments_) {
    if (byte != '{') return false;
    has_arguments_ = true;
    if (has_name_) Begin(events);
  }
  depth_ = 0;
  in_string_ = escaped_ = false;
  place_ = Place::kValue;
  return PushValue(byte, events);
}

bool CallObject::PushValue(char byte, std::vector<ToolEvent>& events) {
  const bool at_top = depth_ == 0 && !in_string_;
  // A number or a word ends where its object goes on.
  if (at_top && (byte == ',' || byte == '}') && !is_arguments_) {
    EndValue();
    if (!begun_) raw_.pop_back();  // it is counted again
    return Push(byte, events);
  }
  if (is_arguments_) {
    if (begun_)
      AddToolEvent(ToolEvent::Kind::kArguments, std::string_view(&byte, 1), events);
    else
      arguments_ += byte;
  }
  if (in_string_) {
    if (escaped_)
      escaped_ = false;
    else if (byte == '\\')
      escaped_ = true;
    else if (byte == '"')
      in_string_ = false;
    if (!in_string_ && depth_ == 0) EndValue();
    return true;
  }
  if (byte == '"') in_string_ = true;
  if (byte == '{' || byte == '[') ++depth_;
  if ((byte == '}' || byte == ']') && depth_ > 0 && --depth_ == 0) EndValue();
  return true;
}

void CallObject::EndValue() {
  is_arguments_ = false;
  place_ = Place::kAfterValue;
}

void CallObject::Begin(std::vector<ToolEvent>& events) {
  begun_ = true;
  raw_.clear();
  AddToolEvent(ToolEvent::Kind::kCall, name_, events);
  AddToolEvent(ToolEvent::Kind::kArguments, arguments_, events);
}

}  // namespace samebit::text
