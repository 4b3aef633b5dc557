// A GGUF model of the llama family that is as small as one can be: 1 layer, width 32, 2 heads of 16, 1 key-value head,
// 8 tokens. Its weights are arbitrary; it is for reading, not for answers.
#pragma once

#include "support/gguf_writer.h"

namespace samebit::test {

// `count` f32 of value 1.
inline std::string FloatBytes(uint64_t count, float value = 1) {
  std::string bytes;
  for (uint64_t i = 0; i < count; ++i) Append<float>(&bytes, value);
  return bytes;
}

// `blocks` blocks of Q8_0: scale 1.0 (f16 0x3c00), codes 0, 1, 2, ...
inline std::string Q8Bytes(uint64_t blocks) {
  std::string bytes;
  for (uint64_t i = 0; i < blocks; ++i) {
    Append<uint16_t>(&bytes, 0x3c00);
    for (int8_t code = 0; code < 32; ++code) Append<int8_t>(&bytes, code);
  }
  return bytes;
}

inline GgufWriter TinyLlama() {
  constexpr uint32_t kF32 = 0, kQ8_0 = 8;
  GgufWriter writer;
  writer.Text("general.architecture", "llama");
  writer.Text("general.name", "tiny");
  writer.U32("llama.block_count", 1);
  writer.U32("llama.embedding_length", 32);
  writer.U32("llama.feed_forward_length", 32);
  writer.U32("llama.attention.head_count", 2);
  writer.U32("llama.attention.head_count_kv", 1);
  writer.U32("llama.context_length", 64);
  writer.F32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.F32("llama.rope.freq_base", 10000);
  writer.Text("tokenizer.ggml.model", "gpt2");
  writer.Text("tokenizer.ggml.pre", "smollm");
  writer.Texts("tokenizer.ggml.tokens", {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "a", "b", "c", "ab", "abc"});
  writer.Integers("tokenizer.ggml.token_type", {3, 3, 3, 1, 1, 1, 1, 1});
  writer.Texts("tokenizer.ggml.merges", {"a b", "ab c"});
  writer.U32("tokenizer.ggml.bos_token_id", 1);
  writer.U32("tokenizer.ggml.eos_token_id", 2);
  writer.Text("tokenizer.chat_template", "{{ messages[0]['content'] }}");
  const auto matrix = [&](const std::string& name, uint64_t rows) {
    writer.Tensor(name, {32, rows}, kQ8_0, Q8Bytes(rows));
  };
  const auto vector = [&](const std::string& name) { writer.Tensor(name, {32}, kF32, FloatBytes(32)); };
  matrix("token_embd.weight", 8);
  vector("output_norm.weight");
  vector("blk.0.attn_norm.weight");
  matrix("blk.0.attn_q.weight", 32);
  matrix("blk.0.attn_k.weight", 16);
  matrix("blk.0.attn_v.weight", 16);
  matrix("blk.0.attn_output.weight", 32);
  vector("blk.0.ffn_norm.weight");
  matrix("blk.0.ffn_gate.weight", 32);
  matrix("blk.0.ffn_up.weight", 32);
  matrix("blk.0.ffn_down.weight", 32);
  return writer;
}

}  // namespace samebit::test
