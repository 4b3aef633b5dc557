#include "model/safetensors_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/json_kind.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "model/describe.h"
#include "model/json_fields.h"

namespace samebit::model {
namespace {

namespace json = boost::json;
using arith::WeightType;

constexpr uint64_t kLengthBytes = 8;  // the header's length, little endian, comes first

struct PlacedTensor {
  Tensor tensor;
  uint64_t begin = 0, end = 0;  // in the data section
  bool is_position_ids = false;
};

// BERT files written by old versions hold a table of the numbers 0, 1, 2, ..., which is no weight.
constexpr std::string_view kPositionIds = "position_ids";
constexpr uint64_t kPositionIdBytes = 8;

bool CountsFromZero(std::span<const std::byte> bytes) {
  for (uint64_t i = 0; i < bytes.size() / kPositionIdBytes; ++i) {
    uint64_t id;
    std::memcpy(&id, &bytes[i * kPositionIdBytes], sizeof id);
    if (id != i) return false;
  }
  return true;
}

std::optional<WeightType> WeightTypeOf(std::string_view name) {
  if (name == "F32") return WeightType::kF32;
  if (name == "F16") return WeightType::kF16;
  if (name == "BF16") return WeightType::kBf16;
  return std::nullopt;
}

std::optional<uint64_t> UnsignedOf(const json::value& value) {
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_int64() && value.get_int64() >= 0) return static_cast<uint64_t>(value.get_int64());
  return std::nullopt;
}

// Fills rows and columns; returns the number of elements.
Result<uint64_t> ReadShape(const json::value* shape, const std::string& path, const std::string& place,
                           Tensor* tensor) {
  if (shape == nullptr || !shape->is_array()) {
    return FileError(ErrorCode::kMalformed, path, place, "a shape of 1 to 4 extents", JsonKindName(shape));
  }
  const json::array& extents = shape->get_array();
  if (extents.empty() || extents.size() > limits::kTensorRankMax) {
    return FileError(ErrorCode::kMalformed, path, place, "a shape of 1 to 4 extents", std::to_string(extents.size()));
  }
  uint64_t elements = 1;
  for (const json::value& value : extents) {
    const std::optional<uint64_t> extent = UnsignedOf(value);
    if (!extent || *extent == 0) {
      return FileError(ErrorCode::kMalformed, path, place, "extents of at least 1",
                       extent ? "0" : JsonKindName(&value));
    }
    if (*extent > limits::kTensorElementsMax / elements) {
      return FileError(ErrorCode::kTooLarge, path, place,
                       "at most " + std::to_string(limits::kTensorElementsMax) + " elements",
                       std::to_string(elements) + " x " + std::to_string(*extent));
    }
    elements *= *extent;
    tensor->columns = *extent;
  }
  tensor->rows = elements / tensor->columns;
  return elements;
}

Result<PlacedTensor> ReadTensor(std::string_view name, const json::value& entry, uint64_t data_offset,
                                const std::string& path) {
  const std::string place = "tensor " + Printable(name);
  if (!entry.is_object()) return FileError(ErrorCode::kMalformed, path, place, "an object", JsonKindName(&entry));
  const json::object& object = entry.get_object();
  PlacedTensor placed;
  placed.tensor.name = name;

  const json::value* type_name = object.if_contains("dtype");
  if (type_name == nullptr || !type_name->is_string()) {
    return FileError(ErrorCode::kMalformed, path, place, "a dtype", JsonKindName(type_name));
  }
  placed.is_position_ids = type_name->get_string() == "I64" && name.ends_with(kPositionIds);
  const std::optional<WeightType> type =
      placed.is_position_ids ? WeightType::kF32 : WeightTypeOf(type_name->get_string());
  if (!type) {
    return FileError(ErrorCode::kUnsupported, path, place, "dtype F32, F16 or BF16",
                     Printable(type_name->get_string()));
  }
  placed.tensor.type = *type;
  ASSIGN_OR_RETURN(const uint64_t elements, ReadShape(object.if_contains("shape"), path, place, &placed.tensor));

  const json::value* offsets = object.if_contains("data_offsets");
  std::optional<uint64_t> begin, end;
  if (offsets != nullptr && offsets->is_array() && offsets->get_array().size() == 2) {
    begin = UnsignedOf(offsets->get_array()[0]);
    end = UnsignedOf(offsets->get_array()[1]);
  }
  if (!begin || !end || *end < *begin) {
    return FileError(ErrorCode::kMalformed, path, place, "data_offsets of two ascending whole numbers", "others");
  }
  const uint64_t element_bytes = placed.is_position_ids ? kPositionIdBytes : arith::Format(*type).block_bytes;
  if (*end - *begin != elements * element_bytes) {
    return FileError(ErrorCode::kMalformed, path, place,
                     std::to_string(elements * element_bytes) + " bytes by its shape",
                     std::to_string(*end - *begin) + " by its offsets");
  }
  if ((data_offset + *begin % element_bytes) % element_bytes != 0) {
    return FileError(
        ErrorCode::kUnsupported, path, place, "data on a boundary of " + std::to_string(element_bytes) + " bytes",
        "data offset " + std::to_string(*begin) + " after a header of " + std::to_string(data_offset) + " bytes");
  }
  placed.begin = *begin;
  placed.end = *end;
  return placed;
}

}  // namespace

Result<std::vector<Tensor>> ReadSafetensors(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.size() < kLengthBytes) {
    return FileError(ErrorCode::kMalformed, path, AtByte(0), "the header's length (8 bytes)",
                     "only " + std::to_string(bytes.size()) + " bytes");
  }
  uint64_t header_bytes;
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  if (header_bytes > bytes.size() - kLengthBytes) {
    return FileError(ErrorCode::kMalformed, path, AtByte(0), "a header of " + std::to_string(header_bytes) + " bytes",
                     "only " + std::to_string(bytes.size() - kLengthBytes) + " bytes to the end of the file");
  }
  if (header_bytes > limits::kSafetensorsHeaderBytesMax) {
    return FileError(ErrorCode::kTooLarge, path, AtByte(0),
                     "a header of at most " + std::to_string(limits::kSafetensorsHeaderBytesMax) + " bytes",
                     std::to_string(header_bytes));
  }
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, header_bytes);
  ASSIGN_OR_RETURN(const json::value read, ReadJson(header, path + ": header", {{"__metadata__"}}));
  if (!read.is_object()) {
    return FileError(ErrorCode::kMalformed, path, AtByte(kLengthBytes), "an object", JsonKindName(&read));
  }
  const json::object& entries = read.get_object();
  if (entries.size() > limits::kTensorCountMax) {
    return FileError(ErrorCode::kTooLarge, path, AtByte(kLengthBytes),
                     "at most " + std::to_string(limits::kTensorCountMax) + " tensors", std::to_string(entries.size()));
  }
  const uint64_t data_offset = kLengthBytes + header_bytes;
  std::vector<PlacedTensor> placed;
  for (const json::key_value_pair& entry : entries) {
    if (entry.key() == "__metadata__") continue;
    ASSIGN_OR_RETURN(PlacedTensor tensor, ReadTensor(entry.key(), entry.value(), data_offset, path));
    placed.push_back(std::move(tensor));
  }
  std::ranges::sort(placed, {}, &PlacedTensor::begin);

  const std::span<const std::byte> data = bytes.subspan(data_offset);
  std::vector<Tensor> tensors;
  uint64_t next = 0;
  for (PlacedTensor& tensor : placed) {
    const std::string place = "tensor " + Printable(tensor.tensor.name);
    if (tensor.begin != next) {
      return FileError(ErrorCode::kMalformed, path, place,
                       "data at offset " + std::to_string(next) + " (no gap, no overlap)",
                       std::to_string(tensor.begin));
    }
    if (tensor.end > data.size()) {
      return FileError(ErrorCode::kMalformed, path, place, "data up to offset " + std::to_string(tensor.end),
                       "a data section of " + std::to_string(data.size()) + " bytes");
    }
    tensor.tensor.bytes = data.subspan(tensor.begin, tensor.end - tensor.begin);
    next = tensor.end;
    if (tensor.is_position_ids) {
      if (CountsFromZero(tensor.tensor.bytes)) continue;
      return FileError(ErrorCode::kUnsupported, path, place, "positions 0, 1, 2, ...", "others");
    }
    tensors.push_back(std::move(tensor.tensor));
  }
  if (next != data.size()) {
    return FileError(ErrorCode::kMalformed, path, "data section",
                     std::to_string(next) + " bytes, the sum of the tensors", std::to_string(data.size()));
  }
  return tensors;
}

}  // namespace samebit::model
