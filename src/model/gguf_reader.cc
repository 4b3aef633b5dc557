#include "model/gguf_reader.h"

#include <bit>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "base/limits.h"
#include "model/describe.h"

namespace samebit::model {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF is read in place");

using arith::WeightType;

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint64_t kAlignmentDefault = 32;
constexpr uint64_t kAlignmentMin = 4;        // an f32 must lie on its own boundary
constexpr uint64_t kAlignmentMax = 1 << 16;  // the largest page size in use

// Tensor types as the format numbers them.
std::optional<WeightType> WeightTypeOf(uint32_t number) {
  switch (number) {
    case 0:
      return WeightType::kF32;
    case 1:
      return WeightType::kF16;
    case 2:
      return WeightType::kQ4_0;
    case 3:
      return WeightType::kQ4_1;
    case 6:
      return WeightType::kQ5_0;
    case 7:
      return WeightType::kQ5_1;
    case 8:
      return WeightType::kQ8_0;
    case 12:
      return WeightType::kQ4_K;
    case 13:
      return WeightType::kQ5_K;
    case 14:
      return WeightType::kQ6_K;
    case 30:
      return WeightType::kBf16;
    default:
      return std::nullopt;
  }
}

// Bytes of a scalar; 0 for strings, arrays and unknown types.
uint64_t ScalarBytes(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      return 0;
  }
  return 0;
}

// Reads forward through the header and refuses to pass its end.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  uint64_t offset() const { return offset_; }
  uint64_t left() const { return bytes_.size() - offset_; }

  Error Malformed(const std::string& expected, const std::string& found) const {
    return FileError(ErrorCode::kMalformed, path_, AtByte(offset_), expected, found);
  }
  Error TooLarge(const std::string& what, uint64_t most, uint64_t found) const {
    return FileError(ErrorCode::kTooLarge, path_, AtByte(offset_), "at most " + std::to_string(most) + " " + what,
                     std::to_string(found));
  }

  template <class T>
  Result<T> Read(const char* what) {
    if (left() < sizeof(T)) return Cut(what, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  Result<std::string_view> ReadString(const char* what) {
    ASSIGN_OR_RETURN(const uint64_t size, Read<uint64_t>(what));
    if (size > left()) return Cut(what, size);
    if (size > limits::kGgufStringBytesMax) return TooLarge("bytes in a string", limits::kGgufStringBytesMax, size);
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + offset_, size);
    offset_ += size;
    return text;
  }

  // Passes over `count` things of `size` bytes; the product may not overflow.
  Status Skip(const char* what, uint64_t count, uint64_t size) {
    if (size != 0 && count > left() / size) {
      return Malformed(std::to_string(count) + " " + what + " of " + std::to_string(size) + " bytes",
                       std::to_string(left()) + " bytes to the end of the file");
    }
    offset_ += count * size;
    return {};
  }

 private:
  Error Cut(const char* what, uint64_t size) const {
    return Malformed(std::string(what) + " (" + std::to_string(size) + " bytes)",
                     "only " + std::to_string(left()) + " bytes to the end of the file");
  }

  std::span<const std::byte> bytes_;
  const std::string& path_;
  uint64_t offset_ = 0;
};

Result<GgufType> ReadType(Cursor& cursor) {
  ASSIGN_OR_RETURN(const uint32_t number, cursor.Read<uint32_t>("a value type"));
  if (number > static_cast<uint32_t>(GgufType::kF64)) {
    return cursor.Malformed("a value type from 0 to 12", std::to_string(number));
  }
  return static_cast<GgufType>(number);
}

// Checks that an array's elements lie inside the file. Every element costs at least one byte of it, so the time is
// bounded by the file's size.
Status WalkArray(Cursor& cursor, GgufType element, uint64_t count, uint64_t depth) {
  if (depth > limits::kGgufArrayDepthMax) return cursor.TooLarge("nested arrays", limits::kGgufArrayDepthMax, depth);
  if (count > limits::kGgufArrayCountMax) return cursor.TooLarge("array elements", limits::kGgufArrayCountMax, count);
  if (element == GgufType::kString) {
    for (uint64_t i = 0; i < count; ++i) RETURN_IF_ERROR(cursor.ReadString("a string of an array"));
    return {};
  }
  if (element == GgufType::kArray) {
    for (uint64_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(const GgufType inner, ReadType(cursor));
      ASSIGN_OR_RETURN(const uint64_t inner_count, cursor.Read<uint64_t>("an array count"));
      RETURN_IF_ERROR(WalkArray(cursor, inner, inner_count, depth + 1));
    }
    return {};
  }
  return cursor.Skip("array elements", count, ScalarBytes(element));
}

Result<GgufValue> ReadValue(Cursor& cursor) {
  GgufValue value;
  ASSIGN_OR_RETURN(value.type, ReadType(cursor));
  if (value.type == GgufType::kString) {
    ASSIGN_OR_RETURN(value.text, cursor.ReadString("a string value"));
    return value;
  }
  if (value.type == GgufType::kArray) {
    ASSIGN_OR_RETURN(value.element, ReadType(cursor));
    ASSIGN_OR_RETURN(value.count, cursor.Read<uint64_t>("an array count"));
    value.offset = cursor.offset();
    RETURN_IF_ERROR(WalkArray(cursor, value.element, value.count, 1));
    return value;
  }
  switch (ScalarBytes(value.type)) {
    case 1: {
      ASSIGN_OR_RETURN(value.bits, cursor.Read<uint8_t>("a one-byte value"));
      break;
    }
    case 2: {
      ASSIGN_OR_RETURN(value.bits, cursor.Read<uint16_t>("a two-byte value"));
      break;
    }
    case 4: {
      ASSIGN_OR_RETURN(value.bits, cursor.Read<uint32_t>("a four-byte value"));
      break;
    }
    default: {
      ASSIGN_OR_RETURN(value.bits, cursor.Read<uint64_t>("an eight-byte value"));
      break;
    }
  }
  if (value.type == GgufType::kBool && value.bits > 1) {
    return cursor.Malformed("a boolean of 0 or 1", std::to_string(value.bits));
  }
  return value;
}

Status ReadMetadata(Cursor& cursor, uint64_t count, GgufFile* file) {
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const std::string_view key, cursor.ReadString("a metadata key"));
    ASSIGN_OR_RETURN(GgufValue value, ReadValue(cursor));
    if (!file->metadata.emplace(std::string(key), value).second) {
      return cursor.Malformed("every metadata key once", Printable(key) + " again");
    }
  }
  return {};
}

Result<uint64_t> AlignmentOf(const GgufFile& file) {
  const GgufValue* value = file.Find("general.alignment");
  if (value == nullptr) return kAlignmentDefault;
  if (value->type != GgufType::kU32 || !std::has_single_bit(value->bits) || value->bits < kAlignmentMin ||
      value->bits > kAlignmentMax) {
    return FileError(ErrorCode::kMalformed, file.path, "key 'general.alignment'",
                     "a u32 that is a power of two from 4 to 65536",
                     std::string(GgufTypeName(value->type)) + " " + std::to_string(value->bits));
  }
  return value->bits;
}

struct PlacedTensor {
  Tensor tensor;
  uint64_t offset = 0;  // from the start of the tensor data
  uint64_t bytes = 0;
};

Result<PlacedTensor> ReadTensorInfo(Cursor& cursor, const std::string& path) {
  PlacedTensor placed;
  Tensor& tensor = placed.tensor;
  ASSIGN_OR_RETURN(const std::string_view name, cursor.ReadString("a tensor name"));
  tensor.name = name;
  const std::string place = "tensor " + Printable(name);
  ASSIGN_OR_RETURN(const uint32_t rank, cursor.Read<uint32_t>("a tensor rank"));
  if (rank < 1 || rank > limits::kTensorRankMax) {
    return FileError(ErrorCode::kMalformed, path, place, "a rank from 1 to 4", std::to_string(rank));
  }
  uint64_t elements = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    ASSIGN_OR_RETURN(const uint64_t extent, cursor.Read<uint64_t>("a tensor extent"));
    if (extent == 0) return FileError(ErrorCode::kMalformed, path, place, "extents of at least 1", "0");
    if (extent > limits::kTensorElementsMax / elements) {
      return FileError(ErrorCode::kTooLarge, path, place,
                       "at most " + std::to_string(limits::kTensorElementsMax) + " elements",
                       std::to_string(elements) + " x " + std::to_string(extent));
    }
    elements *= extent;
    if (i == 0) tensor.columns = extent;
  }
  tensor.rows = elements / tensor.columns;
  ASSIGN_OR_RETURN(const uint32_t type_number, cursor.Read<uint32_t>("a tensor type"));
  const std::optional<WeightType> type = WeightTypeOf(type_number);
  if (!type) {
    return FileError(ErrorCode::kUnsupported, path, place,
                     "one of F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K",
                     "tensor type number " + std::to_string(type_number));
  }
  tensor.type = *type;
  const arith::WeightFormat& format = arith::Format(*type);
  if (tensor.columns % format.block_elements != 0) {
    return FileError(ErrorCode::kMalformed, path, place,
                     "rows of whole " + std::string(format.name) + " blocks (" + std::to_string(format.block_elements) +
                         " elements)",
                     std::to_string(tensor.columns) + " elements a row");
  }
  placed.bytes = elements / format.block_elements * format.block_bytes;
  ASSIGN_OR_RETURN(placed.offset, cursor.Read<uint64_t>("a tensor offset"));
  return placed;
}

// Gives the tensor its bytes once the start of the data is known.
Status Place(const GgufFile& file, uint64_t alignment, PlacedTensor* placed) {
  const std::string place = "tensor " + Printable(placed->tensor.name);
  if (placed->offset % alignment != 0) {
    return FileError(ErrorCode::kMalformed, file.path, place,
                     "an offset that is a multiple of " + std::to_string(alignment), std::to_string(placed->offset));
  }
  const uint64_t data_bytes = file.bytes.size() - file.data_offset;
  if (placed->offset > data_bytes || placed->bytes > data_bytes - placed->offset) {
    return FileError(
        ErrorCode::kMalformed, file.path, place,
        std::to_string(placed->bytes) + " bytes at offset " + std::to_string(placed->offset) + " of the data",
        "a data section of " + std::to_string(data_bytes) + " bytes");
  }
  placed->tensor.bytes = file.bytes.subspan(file.data_offset + placed->offset, placed->bytes);
  return {};
}

Status ReadTensors(Cursor& cursor, uint64_t count, GgufFile* file) {
  std::vector<PlacedTensor> placed;
  std::unordered_set<std::string> names;
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(PlacedTensor next, ReadTensorInfo(cursor, file->path));
    if (!names.insert(next.tensor.name).second) {
      return cursor.Malformed("every tensor name once", Printable(next.tensor.name) + " again");
    }
    placed.push_back(std::move(next));
  }
  ASSIGN_OR_RETURN(const uint64_t alignment, AlignmentOf(*file));
  // A file without room for its padding has no data; Place then refuses the first tensor.
  const uint64_t aligned = (cursor.offset() + alignment - 1) / alignment * alignment;
  file->data_offset = std::min<uint64_t>(aligned, file->bytes.size());
  file->tensors.reserve(placed.size());
  for (PlacedTensor& next : placed) {
    RETURN_IF_ERROR(Place(*file, alignment, &next));
    file->tensors.push_back(std::move(next.tensor));
  }
  return {};
}

Error WrongValue(const GgufFile& file, std::string_view key, const std::string& expected, const GgufValue* found) {
  std::string description = "nothing";
  if (found != nullptr) {
    description = GgufTypeName(found->type);
    if (found->type == GgufType::kArray) description += std::string(" of ") + GgufTypeName(found->element);
  }
  return FileError(ErrorCode::kMalformed, file.path, "key " + Printable(key), expected, description);
}

Result<const GgufValue*> FindArray(const GgufFile& file, std::string_view key, bool (*is_element)(GgufType),
                                   const char* expected, uint64_t count_max) {
  const GgufValue* value = file.Find(key);
  if (value == nullptr || value->type != GgufType::kArray || !is_element(value->element)) {
    return WrongValue(file, key, expected, value);
  }
  if (value->count > count_max) {
    return FileError(ErrorCode::kTooLarge, file.path, "key " + Printable(key),
                     "at most " + std::to_string(count_max) + " elements", std::to_string(value->count));
  }
  return value;
}

}  // namespace

const char* GgufTypeName(GgufType type) {
  static constexpr const char* kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                           "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[static_cast<uint32_t>(type)];
}

const GgufValue* GgufFile::Find(std::string_view key) const {
  const auto found = metadata.find(key);
  return found == metadata.end() ? nullptr : &found->second;
}

Result<std::vector<std::string>> GgufFile::Strings(std::string_view key, uint64_t count_max) const {
  ASSIGN_OR_RETURN(
      const GgufValue* value,
      FindArray(*this, key, [](GgufType t) { return t == GgufType::kString; }, "an array of strings", count_max));
  Cursor cursor(bytes, path);
  RETURN_IF_ERROR(cursor.Skip("bytes", value->offset, 1));
  std::vector<std::string> strings;
  strings.reserve(value->count);
  for (uint64_t i = 0; i < value->count; ++i) {
    ASSIGN_OR_RETURN(const std::string_view text, cursor.ReadString("a string of an array"));
    strings.emplace_back(text);
  }
  return strings;
}

Result<std::vector<float>> GgufFile::Floats(std::string_view key, uint64_t count_max) const {
  ASSIGN_OR_RETURN(const GgufValue* value,
                   FindArray(*this, key, [](GgufType t) { return t == GgufType::kF32; }, "an array of f32", count_max));
  std::vector<float> floats(value->count);
  if (!floats.empty()) std::memcpy(floats.data(), bytes.data() + value->offset, floats.size() * sizeof(float));
  return floats;
}

Result<std::vector<int32_t>> GgufFile::Integers(std::string_view key, uint64_t count_max) const {
  ASSIGN_OR_RETURN(const GgufValue* value,
                   FindArray(
                       *this, key, [](GgufType t) { return t == GgufType::kI32 || t == GgufType::kU32; },
                       "an array of i32 or u32", count_max));
  std::vector<int32_t> integers(value->count);
  if (!integers.empty()) std::memcpy(integers.data(), bytes.data() + value->offset, integers.size() * sizeof(int32_t));
  return integers;
}

Result<GgufFile> ReadGguf(std::span<const std::byte> bytes, const std::string& path) {
  GgufFile file;
  file.path = path;
  file.bytes = bytes;
  Cursor cursor(file.bytes, file.path);

  ASSIGN_OR_RETURN(const uint32_t magic, cursor.Read<uint32_t>("the GGUF magic"));
  if (magic != kMagic) return FileError(ErrorCode::kMalformed, path, AtByte(0), "the letters GGUF", "other bytes");
  ASSIGN_OR_RETURN(file.version, cursor.Read<uint32_t>("the GGUF version"));
  if (file.version != 2 && file.version != 3) {
    const bool swapped = file.version == 0x02000000 || file.version == 0x03000000;
    return FileError(ErrorCode::kUnsupported, path, AtByte(4), "GGUF version 2 or 3, little endian",
                     swapped ? "a big-endian file" : "version " + std::to_string(file.version));
  }
  ASSIGN_OR_RETURN(const uint64_t tensor_count, cursor.Read<uint64_t>("the tensor count"));
  if (tensor_count > limits::kTensorCountMax) return cursor.TooLarge("tensors", limits::kTensorCountMax, tensor_count);
  ASSIGN_OR_RETURN(const uint64_t metadata_count, cursor.Read<uint64_t>("the metadata count"));
  if (metadata_count > limits::kGgufMetadataCountMax) {
    return cursor.TooLarge("metadata entries", limits::kGgufMetadataCountMax, metadata_count);
  }
  RETURN_IF_ERROR(ReadMetadata(cursor, metadata_count, &file));
  RETURN_IF_ERROR(ReadTensors(cursor, tensor_count, &file));
  return file;
}

}  // namespace samebit::model
