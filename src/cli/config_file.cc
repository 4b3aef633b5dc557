#include "cli/config_file.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "base/limits.h"
#include "base/valid_utf8.h"
#include "model/describe.h"

namespace samebit::cli {
namespace {

Error At(const std::string& where, int line_index, ErrorCode code, const std::string& sentence) {
  return {code, where + " line " + std::to_string(line_index + 1) + ": " + sentence};
}

// Thrown out of the events below, and caught in ParseConfigFile: yaml-cpp knows no other way to stop.
struct Stop {
  Error error;
};

// Takes the parser's events one by one: no tree is built.
class Reader final : public YAML::EventHandler {
 public:
  Reader(const std::string& where, std::vector<FileSetting>& settings) : where_(where), settings_(settings) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) Refuse(mark, ErrorCode::kMalformed, "expected one document, found another");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Check(mark, "", anchor);
    if (place_ == Place::kRoot) return;  // a file of comments
    if (place_ == Place::kName) Refuse(mark, ErrorCode::kMalformed, "expected a name, found nothing");
    const auto line_index = static_cast<int>(settings_.back().line) - 1;  // the mark may be that of the next line
    throw Stop{At(where_, line_index, ErrorCode::kMalformed,
                  model::Printable(settings_.back().name) + ": expected a value, found nothing (an empty text is \"\")")};
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, ErrorCode::kUnsupported, "aliases (*name) are not taken; write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Check(mark, tag, anchor);
    switch (place_) {
      case Place::kRoot:
        Refuse(mark, ErrorCode::kMalformed, "expected `name: value`, found " + model::Printable(value));
      case Place::kName: {
        const auto before = std::find_if(settings_.begin(), settings_.end(),
                                         [&](const FileSetting& setting) { return setting.name == value; });
        if (before != settings_.end())
          Refuse(mark, ErrorCode::kMalformed,
                 model::Printable(value) + " stands in line " + std::to_string(before->line) + " already");
        settings_.push_back({.name = value, .line = static_cast<size_t>(mark.line) + 1});
        place_ = Place::kValue;
        return;
      }
      case Place::kValue:
        settings_.back().values.push_back(value);
        place_ = Place::kName;
        return;
      case Place::kList:
        settings_.back().values.push_back(value);
        return;
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Check(mark, tag, anchor);
    if (place_ == Place::kRoot) Refuse(mark, ErrorCode::kMalformed, "expected `name: value`, found a list");
    if (place_ != Place::kValue) Refuse(mark, ErrorCode::kMalformed, "expected a text, found a list");
    settings_.back().is_list = true;
    place_ = Place::kList;
  }
  void OnSequenceEnd() override { place_ = Place::kName; }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Check(mark, tag, anchor);
    if (place_ == Place::kValue)
      Refuse(mark, ErrorCode::kMalformed,
             model::Printable(settings_.back().name) + ": expected a value, found a map; settings are not nested");
    if (place_ != Place::kRoot) Refuse(mark, ErrorCode::kMalformed, "expected a text, found a map");
    place_ = Place::kName;
  }
  void OnMapEnd() override {}

 private:
  enum class Place { kRoot, kName, kValue, kList };

  [[noreturn]] void Refuse(const YAML::Mark& mark, ErrorCode code, const std::string& sentence) const {
    throw Stop{At(where_, mark.line, code, sentence)};
  }

  void Check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != 0) Refuse(mark, ErrorCode::kUnsupported, "anchors (&name) are not taken; write each value out");
    // The parser's own marks of a plain and of a quoted text.
    if (!tag.empty() && tag != "?" && tag != "!")
      Refuse(mark, ErrorCode::kUnsupported, "tags (" + model::Printable(tag) + ") are not taken; write the value alone");
  }

  const std::string& where_;
  std::vector<FileSetting>& settings_;
  int documents_ = 0;
  Place place_ = Place::kRoot;
};

}  // namespace

Result<std::vector<FileSetting>> ParseConfigFile(std::string_view text, const std::string& where) {
  if (text.size() > limits::kConfigFileBytesMax) {
    return Error{ErrorCode::kTooLarge, where + ": expected at most " + std::to_string(limits::kConfigFileBytesMax) +
                                           " bytes, found " + std::to_string(text.size())};
  }
  if (ValidUtf8(text) != text || text.find('\0') != std::string_view::npos)
    return Error{ErrorCode::kMalformed, where + ": expected text in UTF-8, found other bytes"};
  std::vector<FileSetting> settings;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Reader reader(where, settings);
    while (parser.HandleNextDocument(reader)) {
    }
  } catch (const Stop& stop) {
    return stop.error;
  } catch (const YAML::Exception& error) {
    return At(where, std::max(error.mark.line, 0), ErrorCode::kMalformed, "not YAML: " + error.msg);
  } catch (const std::exception& error) {
    return Error{ErrorCode::kMalformed, where + ": not YAML: " + error.what()};
  }
  return settings;
}

}  // namespace samebit::cli
