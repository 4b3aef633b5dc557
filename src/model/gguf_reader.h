// The GGUF container, versions 2 and 3, little endian: header, metadata, tensor table.
//
// For: gguf_fields (configuration), gguf_tokenizer, the tensor table. Not for: what a key or a tensor means.
// Reading walks the header once and copies names only: arrays stay in the mapped bytes and are decoded on request, so
// that memory use is bounded by the file, whatever its counts say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace samebit::model {

// Value types as the format numbers them.
enum class GgufType : uint32_t {
  kU8 = 0, kI8 = 1, kU16 = 2, kI16 = 3, kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kString = 8, kArray = 9,
  kU64 = 10, kI64 = 11, kF64 = 12,
};
const char* GgufTypeName(GgufType type);

struct GgufValue {
  GgufType type = GgufType::kU32;
  uint64_t bits = 0;      // scalars: little-endian bytes, the rest zero
  std::string_view text;  // kString
  // kArray: `count` elements begin at `offset` of the file; the whole extent has been checked.
  GgufType element = GgufType::kU32;
  uint64_t count = 0;
  uint64_t offset = 0;
};

struct GgufFile {
  std::string path;
  std::span<const std::byte> bytes;
  uint32_t version = 0;
  uint64_t data_offset = 0;  // where tensor data begins
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<Tensor> tensors;  // in file order; names are unique, bytes lie inside the file

  const GgufValue* Find(std::string_view key) const;

  // Arrays, decoded. count_max bounds the memory. Failures: kMalformed (absent or another type), kTooLarge.
  Result<std::vector<std::string>> Strings(std::string_view key, uint64_t count_max) const;
  Result<std::vector<float>> Floats(std::string_view key, uint64_t count_max) const;
  Result<std::vector<int32_t>> Integers(std::string_view key, uint64_t count_max) const;  // i32 or u32
};

// bytes: the whole file; must outlive the result. path: for messages.
// Failures: kMalformed (cut or lying), kUnsupported (version, byte order, tensor type), kTooLarge (base/limits.h).
Result<GgufFile> ReadGguf(std::span<const std::byte> bytes, const std::string& path);

}  // namespace samebit::model
