// Writes GGUF files for tests, true ones and lying ones. Nothing in the product writes GGUF.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samebit::test {

// Appends the little-endian bytes of a number.
template <class T>
void Append(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline void AppendString(std::string* out, std::string_view text) {
  Append<uint64_t>(out, text.size());
  out->append(text);
}

class GgufWriter {
 public:
  struct Entry {
    std::string key;
    uint32_t type;
    std::string payload;
  };
  struct TensorEntry {
    std::string name;
    std::vector<uint64_t> extents;  // innermost first
    uint32_t type = 0;
    std::string bytes;
    std::optional<uint64_t> offset;  // a lie; absent: where the bytes really are
  };

  // A value of any type by its number; a key that is there already is replaced, so that a test can change one thing.
  void Raw(const std::string& key, uint32_t type, std::string payload) {
    Remove(key);
    entries.push_back({key, type, std::move(payload)});
  }
  void U32(const std::string& key, uint32_t value) { Scalar(key, 4, value); }
  void I32(const std::string& key, int32_t value) { Scalar(key, 5, value); }
  void F32(const std::string& key, float value) { Scalar(key, 6, value); }
  void Bool(const std::string& key, bool value) { Scalar<uint8_t>(key, 7, value ? 1 : 0); }
  void Text(const std::string& key, std::string_view value) {
    std::string payload;
    AppendString(&payload, value);
    Raw(key, 8, payload);
  }
  void Texts(const std::string& key, const std::vector<std::string>& values) {
    std::string payload = ArrayHead(8, values.size());
    for (const std::string& value : values) AppendString(&payload, value);
    Raw(key, 9, payload);
  }
  void Integers(const std::string& key, const std::vector<int32_t>& values) { Array(key, 5, values); }
  void Floats(const std::string& key, const std::vector<float>& values) { Array(key, 6, values); }
  void Remove(const std::string& key) {
    std::erase_if(entries, [&](const Entry& entry) { return entry.key == key; });
  }

  void Tensor(const std::string& name, std::vector<uint64_t> extents, uint32_t type, std::string bytes) {
    tensors.push_back({name, std::move(extents), type, std::move(bytes), std::nullopt});
  }
  // Must exist.
  TensorEntry& At(const std::string& name) {
    for (TensorEntry& tensor : tensors) {
      if (tensor.name == name) return tensor;
    }
    std::abort();
  }
  void RemoveTensor(const std::string& name) {
    std::erase_if(tensors, [&](const TensorEntry& tensor) { return tensor.name == name; });
  }

  static std::string ArrayHead(uint32_t element_type, uint64_t count) {
    std::string head;
    Append<uint32_t>(&head, element_type);
    Append<uint64_t>(&head, count);
    return head;
  }

  // The header without padding and data.
  std::string Header() const {
    std::string out = "GGUF";
    Append<uint32_t>(&out, version);
    Append<uint64_t>(&out, tensor_count.value_or(tensors.size()));
    Append<uint64_t>(&out, metadata_count.value_or(entries.size()));
    for (const Entry& entry : entries) {
      AppendString(&out, entry.key);
      Append<uint32_t>(&out, entry.type);
      out += entry.payload;
    }
    uint64_t offset = 0;
    for (const TensorEntry& tensor : tensors) {
      AppendString(&out, tensor.name);
      Append<uint32_t>(&out, static_cast<uint32_t>(tensor.extents.size()));
      for (const uint64_t extent : tensor.extents) Append<uint64_t>(&out, extent);
      Append<uint32_t>(&out, tensor.type);
      Append<uint64_t>(&out, tensor.offset.value_or(offset));
      offset = Aligned(offset + tensor.bytes.size());
    }
    return out;
  }

  std::string Finish() const {
    std::string out = Header();
    for (const TensorEntry& tensor : tensors) {
      out.resize(Aligned(out.size()));  // the data begins on a boundary, so file and data offsets agree modulo it
      out += tensor.bytes;
    }
    return out;
  }

  uint32_t version = 3;
  uint64_t alignment = 32;  // of what is written; says nothing in the metadata
  std::optional<uint64_t> tensor_count, metadata_count;  // lies
  std::vector<Entry> entries;
  std::vector<TensorEntry> tensors;

 private:
  template <class T>
  void Scalar(const std::string& key, uint32_t type, T value) {
    std::string payload;
    Append<T>(&payload, value);
    Raw(key, type, payload);
  }
  template <class T>
  void Array(const std::string& key, uint32_t type, const std::vector<T>& values) {
    std::string payload = ArrayHead(type, values.size());
    for (const T value : values) Append<T>(&payload, value);
    Raw(key, 9, payload);
  }
  uint64_t Aligned(uint64_t offset) const { return (offset + alignment - 1) / alignment * alignment; }
};

}  // namespace samebit::test
