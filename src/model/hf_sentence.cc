#include "model/hf_sentence.h"

#include <algorithm>
#include <memory>

#include "base/json_kind.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "model/describe.h"
#include "model/json_fields.h"
#include "world/file.h"

namespace samebit::model {
namespace {

namespace json = boost::json;

constexpr const char* kModules = "modules.json";
constexpr uint64_t kModulesBytesMax = 1 << 16;  // three entries of a few words each

// One folder below; nothing else is ever opened by name.
bool IsPlainFolderName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-' ||
           c == '.';
  });
}

struct Module {
  std::string kind;  // the last part of its type: "Pooling"
  std::string folder;
};

Result<std::vector<Module>> ReadModules(const std::string& folder) {
  const std::string path = folder + kModules;
  ASSIGN_OR_RETURN(const std::string text, world::ReadWholeFile(path, kModulesBytesMax));
  ASSIGN_OR_RETURN(const json::value parsed, ReadJson(text, path));
  if (!parsed.is_array()) return FileError(ErrorCode::kMalformed, path, AtByte(0), "an array", JsonKindName(&parsed));
  std::vector<Module> modules;
  for (const json::value& entry : parsed.get_array()) {
    const json::object* object = entry.if_object();
    const json::value* type = object == nullptr ? nullptr : object->if_contains("type");
    const json::value* place = object == nullptr ? nullptr : object->if_contains("path");
    if (type == nullptr || !type->is_string() || place == nullptr || !place->is_string()) {
      return FileError(ErrorCode::kMalformed, path, "an entry", "an object with type and path", JsonKindName(&entry));
    }
    const std::string_view name = type->get_string();
    modules.push_back({std::string(name.substr(name.rfind('.') + 1)), std::string(place->get_string())});
  }
  return modules;
}

Status CheckModules(const std::vector<Module>& modules, const std::string& path) {
  std::string found;
  for (const Module& module : modules) found += (found.empty() ? "" : ", ") + module.kind;
  if (found == "Transformer, Pooling" || found == "Transformer, Pooling, Normalize") return {};
  return FileError(ErrorCode::kUnsupported, path, "steps", "Transformer, Pooling and perhaps Normalize",
                   Printable(found));
}

Status ReadPooling(const JsonFields& fields, const std::string& where, ModelConfig* config) {
  static constexpr struct {
    const char* key;
    Pooling pooling;
  } kModes[] = {{"pooling_mode_mean_tokens", Pooling::kMean},
                {"pooling_mode_cls_token", Pooling::kFirst},
                {"pooling_mode_lasttoken", Pooling::kLast}};
  std::string wanted;
  for (const json::key_value_pair& entry : fields.object()) {
    const std::string_view key = entry.key();
    if (!key.starts_with("pooling_mode_") || !entry.value().is_bool() || !entry.value().get_bool()) continue;
    wanted += (wanted.empty() ? "" : ", ") + std::string(key);
    for (const auto& mode : kModes) {
      if (key == mode.key) config->pooling = mode.pooling;
    }
  }
  for (const auto& mode : kModes) {
    if (wanted == mode.key) return {};
  }
  return FileError(ErrorCode::kUnsupported, where, "pooling", "exactly one of mean_tokens, cls_token and lasttoken",
                   Printable(wanted));
}

Result<std::unique_ptr<JsonFields>> ReadOptional(const std::string& folder, const std::string& name,
                                                 std::vector<std::string>* names) {
  if (world::KindOf(folder + name) == world::PathKind::kAbsent) return std::unique_ptr<JsonFields>();
  names->push_back(name);
  return JsonFields::ReadFile(folder + name);
}

}  // namespace

Status ReadSentenceFiles(const std::string& folder, ModelConfig* config, std::vector<std::string>* names) {
  if (world::KindOf(folder + kModules) == world::PathKind::kAbsent) return {};
  ASSIGN_OR_RETURN(const std::vector<Module> modules, ReadModules(folder));
  names->push_back(kModules);
  RETURN_IF_ERROR(CheckModules(modules, folder + kModules));
  if (!modules[0].folder.empty() || !IsPlainFolderName(modules[1].folder)) {
    return FileError(ErrorCode::kUnsupported, folder + kModules, "paths",
                     "the transformer in the folder itself and the pooling in one below it", "others");
  }
  config->normalized_vectors = modules.size() == 3;
  const std::string pooling_name = modules[1].folder + "/config.json";
  ASSIGN_OR_RETURN(const auto pooling, JsonFields::ReadFile(folder + pooling_name));
  names->push_back(pooling_name);
  RETURN_IF_ERROR(ReadPooling(*pooling, folder + pooling_name, config));

  ASSIGN_OR_RETURN(const auto sentence, ReadOptional(folder, "sentence_bert_config.json", names));
  if (sentence) {
    RETURN_IF_ERROR([&]() -> Status {
      ASSIGN_OR_RETURN(const bool lower, sentence->BooleanOr("do_lower_case", false));
      if (lower) return sentence->Complain(ErrorCode::kUnsupported, "do_lower_case", "false: the tokenizer's own", "true");
      ASSIGN_OR_RETURN(const uint32_t longest,
                       sentence->DimensionOr("max_seq_length", limits::kContextMax, config->context));
      config->context = std::min(config->context, longest);
      return {};
    }());
  }
  ASSIGN_OR_RETURN(const auto prompts, ReadOptional(folder, "config_sentence_transformers.json", names));
  if (prompts && prompts->Has("default_prompt_name")) {
    return prompts->Complain(ErrorCode::kUnsupported, "default_prompt_name", "no prompt before every text", "one");
  }
  return {};
}

}  // namespace samebit::model
