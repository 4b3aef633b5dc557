#include "base/json_reader.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "base/json_writer.h"
#include "base/limits.h"

namespace samebit {
namespace {

namespace json = boost::json;

constexpr size_t kShownBytes = 80;  // of a stranger's key in a message

// Receives the parser's events and builds the value. Its own failures are reported through `failure`, because
// Boost's error codes carry no text.
class Builder {
 public:
  static constexpr size_t max_object_size = static_cast<size_t>(-1);
  static constexpr size_t max_array_size = static_cast<size_t>(-1);
  static constexpr size_t max_key_size = static_cast<size_t>(-1);
  static constexpr size_t max_string_size = static_cast<size_t>(-1);

  explicit Builder(const JsonReadOptions& options) : options_(options) {}

  json::value Take() { return stack_.release(); }
  const std::string& failure() const { return failure_; }
  bool too_many() const { return too_many_; }

  bool on_document_begin(json::error_code&) {
    stack_.reset();
    return true;
  }
  bool on_document_end(json::error_code&) { return true; }

  bool on_object_begin(json::error_code& ec) {
    ++depth_;
    if (skipping()) return true;
    keys_.emplace_back();
    return CountValue(ec);
  }
  bool on_object_end(size_t members, json::error_code&) {
    --depth_;
    if (skipping()) return EndSkipped();
    keys_.pop_back();
    stack_.push_object(members);
    return true;
  }
  bool on_array_begin(json::error_code& ec) {
    ++depth_;
    return skipping() || CountValue(ec);
  }
  bool on_array_end(size_t elements, json::error_code&) {
    --depth_;
    if (skipping()) return EndSkipped();
    stack_.push_array(elements);
    return true;
  }

  bool on_key_part(json::string_view part, size_t, json::error_code&) {
    key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, size_t, json::error_code& ec) {
    key_.append(part.data(), part.size());
    if (!skipping()) {
      if (!keys_.back().insert(key_).second) return Fail("every key once", JsonQuoted(key_.substr(0, kShownBytes)) + " again", ec);
      stack_.push_key(key_);
      if (depth_ == 1) {
        for (const std::string_view skipped : options_.skipped_keys) {
          if (key_ == skipped) skip_depth_ = 1;
        }
      }
    }
    key_.clear();
    return true;
  }

  bool on_string_part(json::string_view part, size_t, json::error_code&) {
    if (!skipping()) text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(json::string_view part, size_t, json::error_code& ec) {
    if (skipping()) return EndSkipped();
    text_.append(part.data(), part.size());
    stack_.push_string(text_);
    text_.clear();
    return CountValue(ec);
  }

  bool on_number_part(json::string_view part, json::error_code&) {
    number_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(int64_t value, json::string_view, json::error_code& ec) {
    number_.clear();
    if (skipping()) return EndSkipped();
    stack_.push_int64(value);
    return CountValue(ec);
  }
  bool on_uint64(uint64_t value, json::string_view, json::error_code& ec) {
    number_.clear();
    if (skipping()) return EndSkipped();
    stack_.push_uint64(value);
    return CountValue(ec);
  }
  bool on_double(double, json::string_view part, json::error_code& ec) {
    number_.append(part.data(), part.size());
    double value = 0;
    const auto [end, error] = std::from_chars(number_.data(), number_.data() + number_.size(), value);
    if (error != std::errc() || end != number_.data() + number_.size() || !std::isfinite(value)) {
      return Fail("a number within the range of double", "another", ec);
    }
    number_.clear();
    if (skipping()) return EndSkipped();
    stack_.push_double(value);
    return CountValue(ec);
  }
  bool on_bool(bool value, json::error_code& ec) {
    if (skipping()) return EndSkipped();
    stack_.push_bool(value);
    return CountValue(ec);
  }
  bool on_null(json::error_code& ec) {
    if (skipping()) return EndSkipped();
    stack_.push_null();
    return CountValue(ec);
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool skipping() const { return skip_depth_ != 0; }

  // A value inside a skipped one ends; at the depth of the key itself the skipping is over.
  bool EndSkipped() {
    if (depth_ == skip_depth_) {
      skip_depth_ = 0;
      stack_.push_null();
    }
    return true;
  }

  bool CountValue(json::error_code& ec) {
    if (++values_ <= options_.values_max) return true;
    too_many_ = true;
    return Fail("at most " + std::to_string(options_.values_max) + " values", "more", ec);
  }

  bool Fail(const std::string& expected, const std::string& found, json::error_code& ec) {
    failure_ = "expected " + expected + ", found " + found;
    ec = json::make_error_code(json::error::exception);
    return false;
  }

  const JsonReadOptions& options_;
  json::value_stack stack_;
  std::vector<std::unordered_set<std::string>> keys_;  // of every open object that is built
  std::string key_, text_, number_;
  std::string failure_;
  uint64_t values_ = 0;    // built so far
  bool too_many_ = false;
  size_t depth_ = 0;       // open objects and arrays
  size_t skip_depth_ = 0;  // depth at which the skipped key stands; 0: none
};

}  // namespace

Result<json::value> ReadJson(std::string_view text, const std::string& where, const JsonReadOptions& options) {
  try {
    json::parse_options parse_options;
    parse_options.max_depth = limits::kJsonDepthMax;
    json::basic_parser<Builder> parser(parse_options, options);
    json::error_code ec;
    const size_t read = parser.write_some(false, text.data(), text.size(), ec);
    const auto at = [&](size_t byte) { return where + ": byte " + std::to_string(byte) + ": "; };
    if (ec == json::error::too_deep) {
      return Error{ErrorCode::kTooLarge, at(read) + "expected at most " + std::to_string(limits::kJsonDepthMax) +
                                             " nested values, found more"};
    }
    if (ec) {
      const std::string& failure = parser.handler().failure();
      const ErrorCode code = parser.handler().too_many() ? ErrorCode::kTooLarge : ErrorCode::kMalformed;
      return Error{code, at(read) + (failure.empty() ? "expected JSON, found " + ec.message() : failure)};
    }
    if (read != text.size()) {
      return Error{ErrorCode::kMalformed, at(read) + "expected the end of the document, found more bytes"};
    }
    return parser.handler().Take();
  } catch (const std::exception& exception) {
    return Error{ErrorCode::kInternal, where + ": the JSON library failed: " + exception.what()};
  }
}

}  // namespace samebit
