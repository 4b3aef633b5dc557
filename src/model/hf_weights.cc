#include "model/hf_weights.h"

#include <map>
#include <set>

#include "base/json_kind.h"
#include "base/limits.h"
#include "model/describe.h"
#include "model/json_fields.h"
#include "model/safetensors_reader.h"

namespace samebit::model {
namespace {

namespace json = boost::json;

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

bool IsPlainShardName(std::string_view name) {
  return name.ends_with(".safetensors") && name.size() <= 255 && name[0] != '.' &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

Status AddFile(const std::string& folder, const std::string& name, HfWeights* weights) {
  ASSIGN_OR_RETURN(world::MappedFile file, world::MappedFile::Open(folder + name));
  ASSIGN_OR_RETURN(std::vector<Tensor> tensors, ReadSafetensors(file.bytes(), folder + name));
  weights->files.push_back(std::move(file));
  weights->names.push_back(name);
  for (Tensor& tensor : tensors) weights->tensors.push_back(std::move(tensor));
  return {};
}

// shard -> its tensors, in the order of the shards' names.
using ShardMap = std::map<std::string, std::set<std::string, std::less<>>>;

Result<ShardMap> ReadIndex(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<JsonFields> index, JsonFields::ReadFile(path));
  const json::value* map = index->Find("weight_map");
  if (map == nullptr || !map->is_object()) {
    return FileError(ErrorCode::kMalformed, path, "key 'weight_map'", "an object", JsonKindName(map));
  }
  ShardMap shards;
  for (const json::key_value_pair& entry : map->get_object()) {
    const std::string place = "weight_map, tensor " + Printable(entry.key());
    if (!entry.value().is_string() || !IsPlainShardName(entry.value().get_string())) {
      return FileError(
          ErrorCode::kMalformed, path, place, "the name of a .safetensors file in the same folder",
          entry.value().is_string() ? Printable(entry.value().get_string()) : JsonKindName(&entry.value()));
    }
    shards[std::string(entry.value().get_string())].emplace(entry.key());
    if (shards.size() > limits::kShardCountMax) {
      return FileError(ErrorCode::kTooLarge, path, place,
                       "at most " + std::to_string(limits::kShardCountMax) + " files", "more");
    }
  }
  return shards;
}

Status AddShard(const std::string& folder, const std::string& name, const std::set<std::string, std::less<>>& expected,
                HfWeights* weights) {
  const size_t first = weights->tensors.size();
  RETURN_IF_ERROR(AddFile(folder, name, weights));
  // Names inside a file are unique, so equal counts and inclusion mean equal sets, and the index has each name once:
  // no tensor can come from two shards.
  for (size_t i = first; i < weights->tensors.size(); ++i) {
    if (!expected.contains(weights->tensors[i].name)) {
      return FileError(ErrorCode::kMalformed, folder + name, "tensor " + Printable(weights->tensors[i].name),
                       "only tensors that the index places here", "one that it does not");
    }
  }
  if (weights->tensors.size() - first != expected.size()) {
    return FileError(ErrorCode::kMalformed, folder + name, "tensor table",
                     std::to_string(expected.size()) + " tensors by the index",
                     std::to_string(weights->tensors.size() - first));
  }
  return {};
}

}  // namespace

Result<HfWeights> ReadHfWeights(const std::string& folder) {
  HfWeights weights;
  if (world::KindOf(folder + kSingle) != world::PathKind::kAbsent) {
    RETURN_IF_ERROR(AddFile(folder, kSingle, &weights));
    return weights;
  }
  if (world::KindOf(folder + kIndex) == world::PathKind::kAbsent) {
    return FileError(ErrorCode::kNotFound, folder, "weights", std::string(kSingle) + " or " + kIndex, "neither");
  }
  ASSIGN_OR_RETURN(const ShardMap shards, ReadIndex(folder + kIndex));
  weights.names.push_back(kIndex);
  size_t tensors = 0;
  for (const auto& [name, expected] : shards) {
    RETURN_IF_ERROR(AddShard(folder, name, expected, &weights));
    tensors += expected.size();
  }
  if (tensors > limits::kTensorCountMax) {
    return FileError(ErrorCode::kTooLarge, folder + kIndex, "key 'weight_map'",
                     "at most " + std::to_string(limits::kTensorCountMax) + " tensors", std::to_string(tensors));
  }
  return weights;
}

}  // namespace samebit::model
