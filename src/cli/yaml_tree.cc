#include "cli/yaml_tree.h"

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

constexpr size_t kShown = 60;  // bytes of a text from the file that a message repeats

// Stops the parser from inside one of its callbacks.
struct Stop {
  ErrorCode code;
  uint32_t line;
  std::string sentence;
};

class TreeBuilder final : public YAML::EventHandler {
 public:
  YamlNode root;  // kNull: nothing but comments

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Stop{ErrorCode::kUnsupported, Line(mark), "aliases (*name) are not taken; write the value out"};
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node;
    Place(mark, "", anchor, node);
    Put(std::move(node));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node;
    node.kind = YamlNode::Kind::kText;
    node.text = value;
    Place(mark, tag, anchor, node);
    Put(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    YamlNode node;
    std::string key;
    uint32_t key_line = 0;  // 0: no key yet
  };

  static uint32_t Line(const YAML::Mark& mark) { return static_cast<uint32_t>(std::max(mark.line, 0)) + 1; }

  // "?" and "!" are what the parser says of plain and of quoted text.
  void Place(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode& node) {
    node.line = node.key_line = Line(mark);
    if (anchor != 0)
      throw Stop{ErrorCode::kUnsupported, node.line, "anchors (&name) are not taken; write each value out"};
    if (!tag.empty() && tag != "?" && tag != "!")
      throw Stop{ErrorCode::kUnsupported, node.line,
                 "tags (" + model::Printable(tag.substr(0, kShown)) + ") are not taken; write the value alone"};
    if (++count_ > limits::kYamlNodesMax)
      throw Stop{ErrorCode::kTooLarge, node.line, "more than " + std::to_string(limits::kYamlNodesMax) + " values"};
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    Level level;
    level.node.kind = kind;
    Place(mark, tag, anchor, level.node);
    if (levels_.size() >= limits::kYamlDepthMax)
      throw Stop{ErrorCode::kTooLarge, level.node.line,
                 "nested deeper than " + std::to_string(limits::kYamlDepthMax) + " levels"};
    levels_.push_back(std::move(level));
  }

  void Close() {
    YamlNode node = std::move(levels_.back().node);
    levels_.pop_back();
    Put(std::move(node));
  }

  void Put(YamlNode node) {
    if (levels_.empty()) {
      root = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.kind == YamlNode::Kind::kList) {
      level.node.list.push_back(std::move(node));
    } else if (level.key_line == 0) {
      if (node.kind != YamlNode::Kind::kText) throw Stop{ErrorCode::kMalformed, node.line, "a name must be a text"};
      if (const YamlNode* before = level.node.Find(node.text); before != nullptr)
        throw Stop{ErrorCode::kMalformed, node.line,
                   model::Printable(node.text.substr(0, kShown)) + " stands in line " +
                       std::to_string(before->key_line) + " already"};
      level.key = std::move(node.text);
      level.key_line = node.line;
    } else {
      node.key_line = level.key_line;
      level.node.map.emplace_back(std::move(level.key), std::move(node));
      level.key.clear();
      level.key_line = 0;
    }
  }

  std::vector<Level> levels_;
  uint32_t count_ = 0;
};

}  // namespace

const YamlNode* YamlNode::Find(const std::string& key) const {
  const auto found = std::find_if(map.begin(), map.end(), [&](const auto& member) { return member.first == key; });
  return found == map.end() ? nullptr : &found->second;
}

Error AtLine(const std::string& where, uint32_t line, ErrorCode code, const std::string& sentence) {
  return {code, where + ":" + std::to_string(line) + ": " + sentence};
}

Result<YamlNode> ReadYaml(const std::string& text, const std::string& where) {
  if (ValidUtf8(text) != text) return AtLine(where, 1, ErrorCode::kMalformed, "it is not UTF-8");
  if (text.find('\0') != std::string::npos) return AtLine(where, 1, ErrorCode::kMalformed, "it holds a NUL");
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    TreeBuilder builder;
    parser.HandleNextDocument(builder);
    TreeBuilder second;
    if (parser.HandleNextDocument(second))
      return AtLine(where, 1, ErrorCode::kMalformed, "it holds more than one document");
    return std::move(builder.root);
  } catch (const Stop& stop) {
    return AtLine(where, stop.line, stop.code, stop.sentence);
  } catch (const YAML::Exception& exception) {
    return AtLine(where, static_cast<uint32_t>(std::max(exception.mark.line, 0)) + 1, ErrorCode::kMalformed,
                  "it is no YAML: " + exception.msg.substr(0, 200));
  } catch (const std::exception& exception) {
    return AtLine(where, 1, ErrorCode::kMalformed, std::string("it is no YAML: ") + exception.what());
  }
}

}  // namespace samebit::cli
