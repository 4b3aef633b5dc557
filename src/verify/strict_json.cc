#include "verify/strict_json.h"

#include <set>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>

#include "base/limits.h"

namespace samebit::verify {
namespace {

// Walks the text without keeping it and remembers the keys of every open object.
struct DuplicateFinder {
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  using Code = boost::json::error_code;
  using View = boost::json::string_view;

  std::vector<std::set<std::string>> open_objects;
  std::string key;
  std::string duplicate;
  bool found = false;

  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code&) { open_objects.emplace_back(); return true; }
  bool on_object_end(std::size_t, Code&) { open_objects.pop_back(); return true; }
  bool on_array_begin(Code&) { return true; }
  bool on_array_end(std::size_t, Code&) { return true; }
  bool on_key_part(View part, std::size_t, Code&) { key.append(part.data(), part.size()); return true; }
  bool on_key(View part, std::size_t, Code& code) {
    key.append(part.data(), part.size());
    if (!open_objects.back().insert(key).second) {
      found = true;
      duplicate = key;
      code = boost::json::error::extra_data;
      return false;
    }
    key.clear();
    return true;
  }
  bool on_string_part(View, std::size_t, Code&) { return true; }
  bool on_string(View, std::size_t, Code&) { return true; }
  bool on_number_part(View, Code&) { return true; }
  bool on_int64(int64_t, View, Code&) { return true; }
  bool on_uint64(uint64_t, View, Code&) { return true; }
  bool on_double(double, View, Code&) { return true; }
  bool on_bool(bool, Code&) { return true; }
  bool on_null(Code&) { return true; }
  bool on_comment_part(View, Code&) { return true; }
  bool on_comment(View, Code&) { return true; }
};

}  // namespace

Result<boost::json::value> ParseStrictJson(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = limits::kJsonDepthMax;
  boost::json::basic_parser<DuplicateFinder> finder(options);
  boost::json::error_code code;
  const std::size_t read = finder.write_some(false, text.data(), text.size(), code);
  if (finder.handler().found)
    return Error{ErrorCode::kMalformed, "JSON: byte " + std::to_string(read) + ": expected every key once, found \"" +
                                            finder.handler().duplicate.substr(0, 80) + "\" twice"};
  if (!code && read < text.size() && text.find_first_not_of(" \t\r\n", read) != std::string_view::npos)
    code = boost::json::error::extra_data;
  if (code)
    return Error{ErrorCode::kMalformed,
                 "JSON: byte " + std::to_string(read) + ": expected one JSON value, found: " + code.message()};
  try {
    boost::json::value value = boost::json::parse({text.data(), text.size()}, code, {}, options);
    if (code) return Error{ErrorCode::kMalformed, "JSON: expected one JSON value, found: " + code.message()};
    return value;
  } catch (const std::exception& failure) {
    return Error{ErrorCode::kMalformed, std::string("JSON: ") + failure.what()};
  }
}

const boost::json::value* FieldOf(const boost::json::object& object, std::string_view key) {
  return object.if_contains({key.data(), key.size()});
}

}  // namespace samebit::verify
