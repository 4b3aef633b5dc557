// A Hugging Face folder of a model of 1 layer for tests: width 32, 2 heads of 16, 1 key-value head, 8 tokens, F32.
// Every file is a member that a test may change before Write().
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "support/gguf_writer.h"

namespace samebit::test {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  std::string shape;  // JSON: "[8, 32]"
  std::string bytes;
};

// The header's JSON text for entries that lie one after the other.
inline std::string SafetensorsHeader(const std::vector<SafetensorsEntry>& entries) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  size_t offset = 0;
  for (const SafetensorsEntry& entry : entries) {
    header += ",\"" + entry.name + R"(":{"dtype":")" + entry.dtype + R"(","shape":)" + entry.shape +
              R"(,"data_offsets":[)" + std::to_string(offset) + "," + std::to_string(offset + entry.bytes.size()) +
              "]}";
    offset += entry.bytes.size();
  }
  header += "}";
  while (header.size() % 8 != 0) header += ' ';  // the format pads its header, so that the data is aligned
  return header;
}

inline std::string SafetensorsFile(const std::string& header, const std::string& data) {
  std::string file;
  Append<uint64_t>(&file, header.size());
  return file + header + data;
}

inline std::string SafetensorsFile(const std::vector<SafetensorsEntry>& entries) {
  std::string data;
  for (const SafetensorsEntry& entry : entries) data += entry.bytes;
  return SafetensorsFile(SafetensorsHeader(entries), data);
}

// A folder that lives as long as the object.
class TinyHf {
 public:
  explicit TinyHf(const std::string& name)
      : folder(std::filesystem::temp_directory_path() / ("samebit_" + name + "_" + std::to_string(::getpid()))) {
    files["config.json"] =
        R"({"model_type":"llama","hidden_size":32,"intermediate_size":32,"num_hidden_layers":1,)"
        R"("num_attention_heads":2,"num_key_value_heads":1,"vocab_size":8,"max_position_embeddings":64,)"
        R"("rms_norm_eps":1e-05,"rope_theta":10000.0,"tie_word_embeddings":true,"hidden_act":"silu",)"
        R"("bos_token_id":1,"eos_token_id":2})";
    files["tokenizer.json"] =
        R"({"added_tokens":[{"id":0,"content":"<|endoftext|>","special":true},)"
        R"({"id":1,"content":"<|im_start|>","special":true},{"id":2,"content":"<|im_end|>","special":true}],)"
        R"("post_processor":null,"model":{"type":"BPE","vocab":{"a":3,"b":4},"merges":[]}})";
    const auto tensor = [&](const std::string& tensor_name, uint64_t rows) {
      const std::string shape = rows == 0 ? "[32]" : "[" + std::to_string(rows) + ",32]";
      std::string bytes;
      for (uint64_t i = 0; i < 32 * (rows == 0 ? 1 : rows); ++i) Append<float>(&bytes, 0.5f);
      tensors.push_back({tensor_name, "F32", shape, bytes});
    };
    tensor("model.embed_tokens.weight", 8);
    tensor("model.norm.weight", 0);
    const std::string layer = "model.layers.0.";
    tensor(layer + "input_layernorm.weight", 0);
    tensor(layer + "self_attn.q_proj.weight", 32);
    tensor(layer + "self_attn.k_proj.weight", 16);
    tensor(layer + "self_attn.v_proj.weight", 16);
    tensor(layer + "self_attn.o_proj.weight", 32);
    tensor(layer + "post_attention_layernorm.weight", 0);
    tensor(layer + "mlp.gate_proj.weight", 32);
    tensor(layer + "mlp.up_proj.weight", 32);
    tensor(layer + "mlp.down_proj.weight", 32);
  }
  ~TinyHf() { std::filesystem::remove_all(folder); }
  TinyHf(const TinyHf&) = delete;

  // Writes every file anew; `tensors` go to model.safetensors unless a test has put other weight files in.
  std::string Write() const {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (const auto& [name, content] : files) WriteFile(name, content);
    if (!tensors.empty()) WriteFile("model.safetensors", SafetensorsFile(tensors));
    return folder.string();
  }
  void WriteFile(const std::string& name, const std::string& content) const {
    std::ofstream(folder / name, std::ios::binary) << content;
  }
  // Replaces the first occurrence, which must be there.
  void Replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string& text = files.at(file);
    const size_t place = text.find(from);
    if (place == std::string::npos) std::abort();
    text.replace(place, from.size(), to);
  }

  std::filesystem::path folder;
  std::map<std::string, std::string> files;
  std::vector<SafetensorsEntry> tensors;
};

}  // namespace samebit::test
