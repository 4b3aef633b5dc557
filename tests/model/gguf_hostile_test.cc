// Cut, lying and hostile GGUF files: an error each time, and memory in proportion to the file.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "model/gguf_model.h"
#include "support/allocation_meter.h"
#include "support/gguf_writer.h"
#include "support/tiny_gguf.h"

namespace samebit::model {
namespace {

using test::Append;
using test::AppendString;
using test::GgufWriter;
using test::TinyLlama;

// Reads from a buffer of exactly the file's size, so that an address sanitizer sees a step too far.
Status Read(const std::string& file) {
  const auto buffer = std::make_unique<std::byte[]>(file.size());
  std::memcpy(buffer.get(), file.data(), file.size());
  ASSIGN_OR_RETURN(const GgufFile read, ReadGguf({buffer.get(), file.size()}, "tiny.gguf"));
  ASSIGN_OR_RETURN(const GgufModelParts parts, ReadGgufModel(read));
  return {};
}
Status Read(const GgufWriter& writer) { return Read(writer.Finish()); }

void ExpectRefused(const GgufWriter& writer, ErrorCode code, const std::string& part_of_message) {
  const Status status = Read(writer);
  ASSERT_FALSE(status.ok()) << "expected a refusal with " << part_of_message;
  EXPECT_STREQ(ErrorCodeName(status.error().code), ErrorCodeName(code)) << status.error().message;
  EXPECT_NE(status.error().message.find(part_of_message), std::string::npos) << status.error().message;
  EXPECT_EQ(status.error().message.find("tiny.gguf: "), 0u) << status.error().message;
}

constexpr ErrorCode kMalformed = ErrorCode::kMalformed;
constexpr ErrorCode kUnsupported = ErrorCode::kUnsupported;
constexpr ErrorCode kTooLarge = ErrorCode::kTooLarge;

TEST(GgufHostile, the_tiny_file_itself_is_good_in_both_versions) {
  GgufWriter writer = TinyLlama();
  EXPECT_TRUE(Read(writer).ok()) << Read(writer).error().message;
  writer.version = 2;
  EXPECT_TRUE(Read(writer).ok());
}

TEST(GgufHostile, refuses_a_file_cut_at_every_length) {
  const std::string file = TinyLlama().Finish();
  for (size_t length = 0; length < file.size(); ++length) {
    const Status status = Read(file.substr(0, length));
    ASSERT_FALSE(status.ok()) << "cut at " << length;
    ASSERT_EQ(status.error().code, kMalformed) << "cut at " << length << ": " << status.error().message;
  }
}

TEST(GgufHostile, survives_every_byte_of_the_header_set_to_extremes) {
  const std::string file = TinyLlama().Finish();
  const size_t header = TinyLlama().Header().size();
  size_t refused = 0;
  for (size_t i = 0; i < header; ++i) {
    for (const char value : {'\x00', '\x7f', '\x80', '\xff'}) {
      std::string changed = file;
      changed[i] = value;
      refused += !Read(changed).ok();
    }
  }
  EXPECT_GT(refused, header);  // names and texts may change freely; counts, types and sizes may not
}

TEST(GgufHostile, refuses_other_formats_versions_and_byte_orders) {
  std::string file = TinyLlama().Finish();
  file[0] = 'g';
  EXPECT_EQ(Read(file).error().code, kMalformed);
  GgufWriter writer = TinyLlama();
  writer.version = 1;
  ExpectRefused(writer, kUnsupported, "found version 1");
  writer.version = 4;
  ExpectRefused(writer, kUnsupported, "found version 4");
  writer.version = 0x03000000;
  ExpectRefused(writer, kUnsupported, "big-endian");
}

TEST(GgufHostile, refuses_counts_that_lie) {
  for (const uint64_t count : {uint64_t{1'000'000'000}, std::numeric_limits<uint64_t>::max(), uint64_t{1} << 63}) {
    GgufWriter writer = TinyLlama();
    writer.tensor_count = count;
    ExpectRefused(writer, kTooLarge, "tensors");
    writer = TinyLlama();
    writer.metadata_count = count;
    ExpectRefused(writer, kTooLarge, "metadata entries");
    writer = TinyLlama();
    writer.Raw("x", 9, GgufWriter::ArrayHead(4, count));
    ExpectRefused(writer, kTooLarge, "array elements");
    writer.Raw("x", 9, GgufWriter::ArrayHead(8, count));
    ExpectRefused(writer, kTooLarge, "array elements");
    writer.Raw("x", 9, GgufWriter::ArrayHead(9, count));
    ExpectRefused(writer, kTooLarge, "array elements");
  }
  GgufWriter writer = TinyLlama();
  writer.tensor_count = writer.tensors.size() + 1;
  EXPECT_FALSE(Read(writer).ok());
  writer = TinyLlama();
  writer.metadata_count = writer.entries.size() + 1;
  EXPECT_FALSE(Read(writer).ok());
}

TEST(GgufHostile, takes_memory_in_proportion_to_the_file_whatever_its_counts_say) {
  // Counts under the limits, but far over the file.
  std::vector<GgufWriter> writers(6, TinyLlama());
  writers[0].tensor_count = 60000;
  writers[1].metadata_count = 60000;
  writers[2].Raw("tokenizer.ggml.tokens", 9, GgufWriter::ArrayHead(8, 4'000'000));
  writers[3].Raw("tokenizer.ggml.token_type", 9, GgufWriter::ArrayHead(5, 4'000'000));
  writers[4].Raw("tokenizer.ggml.merges", 9, GgufWriter::ArrayHead(9, 4'000'000));
  writers[5].U32("llama.block_count", 1024);
  const uint64_t file_bytes = TinyLlama().Finish().size();
  for (const GgufWriter& writer : writers) {
    const std::string file = writer.Finish();
    const uint64_t before = test::AllocatedBytes();
    EXPECT_FALSE(Read(file).ok());
    EXPECT_LT(test::AllocatedBytes() - before, 16 * file_bytes + (1 << 18));
  }
}

TEST(GgufHostile, refuses_strings_longer_than_the_file_or_the_bound) {
  for (const uint64_t size : {uint64_t{1} << 40, std::numeric_limits<uint64_t>::max()}) {
    GgufWriter writer = TinyLlama();
    std::string payload;
    Append<uint64_t>(&payload, size);
    writer.Raw("x", 8, payload);
    ExpectRefused(writer, kMalformed, "to the end of the file");
  }
  GgufWriter writer = TinyLlama();
  writer.Text("x", std::string((16 << 20) + 1, 'x'));
  ExpectRefused(writer, kTooLarge, "bytes in a string");
}

TEST(GgufHostile, refuses_deep_arrays_and_reads_shallow_ones) {
  const auto nested = [](int depth) {
    std::string payload = GgufWriter::ArrayHead(depth == 1 ? 4 : 9, 1);
    for (int i = 1; i < depth; ++i) payload += GgufWriter::ArrayHead(i == depth - 1 ? 4 : 9, 1);
    Append<uint32_t>(&payload, 7);
    return payload;
  };
  GgufWriter writer = TinyLlama();
  writer.Raw("x", 9, nested(4));
  EXPECT_TRUE(Read(writer).ok()) << Read(writer).error().message;
  writer.Raw("x", 9, nested(5));
  ExpectRefused(writer, kTooLarge, "nested arrays");
  writer.Raw("x", 9, nested(10000));
  ExpectRefused(writer, kTooLarge, "nested arrays");
}

TEST(GgufHostile, refuses_unknown_types) {
  GgufWriter writer = TinyLlama();
  writer.Raw("x", 13, "");
  ExpectRefused(writer, kMalformed, "a value type from 0 to 12, found 13");
  writer.Raw("x", 9, GgufWriter::ArrayHead(99, 1));
  ExpectRefused(writer, kMalformed, "found 99");
  writer.Raw("x", 7, "\x02");
  ExpectRefused(writer, kMalformed, "a boolean of 0 or 1, found 2");
  for (const uint32_t type : {4u, 5u, 9u, 10u, 11u, 15u, 16u, 29u, 31u, 0xffffffffu}) {
    writer = TinyLlama();
    writer.At("blk.0.attn_q.weight").type = type;
    ExpectRefused(writer, kUnsupported, "tensor type number " + std::to_string(type));
  }
}

TEST(GgufHostile, refuses_names_that_come_twice) {
  GgufWriter writer = TinyLlama();
  writer.entries.push_back(writer.entries[0]);
  ExpectRefused(writer, kMalformed, "'general.architecture' again");
  writer = TinyLlama();
  writer.tensors.push_back(writer.tensors[0]);
  ExpectRefused(writer, kMalformed, "'token_embd.weight' again");
}

TEST(GgufHostile, refuses_alignments_that_are_none) {
  for (const uint32_t alignment : {0u, 1u, 2u, 3u, 24u, 33u, 1u << 17, 1u << 31, 0xffffffffu}) {
    GgufWriter writer = TinyLlama();
    writer.U32("general.alignment", alignment);
    ExpectRefused(writer, kMalformed, "general.alignment");
  }
  GgufWriter writer = TinyLlama();
  writer.Text("general.alignment", "32");
  ExpectRefused(writer, kMalformed, "general.alignment");
  writer = TinyLlama();
  writer.U32("general.alignment", 4096);
  writer.alignment = 4096;
  EXPECT_TRUE(Read(writer).ok()) << Read(writer).error().message;
}

TEST(GgufHostile, refuses_tensors_outside_the_file_or_off_their_boundary) {
  for (const uint64_t offset : {uint64_t{1} << 20, uint64_t{1} << 63, std::numeric_limits<uint64_t>::max() - 31}) {
    GgufWriter writer = TinyLlama();
    writer.At("blk.0.ffn_up.weight").offset = offset;
    ExpectRefused(writer, kMalformed, "tensor 'blk.0.ffn_up.weight'");
  }
  GgufWriter writer = TinyLlama();
  writer.At("blk.0.ffn_up.weight").offset = 8;
  ExpectRefused(writer, kMalformed, "a multiple of 32, found 8");
  // The last tensor begins inside and ends outside.
  writer = TinyLlama();
  writer.tensors.back().bytes.pop_back();
  ExpectRefused(writer, kMalformed, "a data section of");
}

TEST(GgufHostile, refuses_shapes_that_overflow_or_are_empty) {
  const auto with_extents = [](std::vector<uint64_t> extents) {
    GgufWriter writer = TinyLlama();
    writer.At("blk.0.attn_q.weight").extents = std::move(extents);
    return writer;
  };
  constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
  ExpectRefused(with_extents({uint64_t{1} << 32, uint64_t{1} << 32}), kTooLarge, "elements");
  ExpectRefused(with_extents({kHuge, kHuge, kHuge, kHuge}), kTooLarge, "elements");
  ExpectRefused(with_extents({uint64_t{1} << 63, 2}), kTooLarge, "elements");
  ExpectRefused(with_extents({32, 0}), kMalformed, "extents of at least 1");
  ExpectRefused(with_extents({0, 32}), kMalformed, "extents of at least 1");
  ExpectRefused(with_extents({}), kMalformed, "a rank from 1 to 4, found 0");
  ExpectRefused(with_extents({1, 1, 1, 1, 1}), kMalformed, "a rank from 1 to 4, found 5");
  ExpectRefused(with_extents({31, 32}), kMalformed, "whole Q8_0 blocks");
  ExpectRefused(with_extents({32, 16}), kMalformed, "rows and columns [32, 32], found [16, 32]");
  ExpectRefused(with_extents({1024}), kMalformed, "rows and columns [32, 32], found [1, 1024]");
}

TEST(GgufHostile, refuses_missing_and_surplus_tensors) {
  for (const GgufWriter::TensorEntry& tensor : TinyLlama().tensors) {
    GgufWriter writer = TinyLlama();
    writer.RemoveTensor(tensor.name);
    ExpectRefused(writer, kMalformed, "'" + tensor.name + "'");
  }
  GgufWriter writer = TinyLlama();
  writer.Tensor("blk.0.attn_q.bias", {32}, 0, test::FloatBytes(32));
  ExpectRefused(writer, kUnsupported, "tensor 'blk.0.attn_q.bias'");
}

TEST(GgufHostile, refuses_norms_that_are_not_finite_or_quantized) {
  for (const float value : {std::nanf(""), INFINITY, -INFINITY}) {
    GgufWriter writer = TinyLlama();
    std::string& bytes = writer.At("blk.0.ffn_norm.weight").bytes;
    std::memcpy(bytes.data() + 5 * sizeof(float), &value, sizeof value);
    ExpectRefused(writer, kMalformed, "tensor 'blk.0.ffn_norm.weight', element 5: expected a finite number");
  }
  GgufWriter writer = TinyLlama();
  writer.At("output_norm.weight").type = 8;
  ExpectRefused(writer, kUnsupported, "found Q8_0");
}

TEST(GgufHostile, refuses_missing_keys_and_other_types) {
  for (const char* key : {"general.architecture", "llama.block_count", "llama.embedding_length",
                          "llama.feed_forward_length", "llama.attention.head_count", "llama.context_length",
                          "llama.attention.layer_norm_rms_epsilon", "tokenizer.ggml.model", "tokenizer.ggml.tokens"}) {
    GgufWriter writer = TinyLlama();
    writer.Remove(key);
    ExpectRefused(writer, kMalformed, std::string("key '") + key + "'");
    writer.Bool(key, true);
    ExpectRefused(writer, kMalformed, std::string("key '") + key + "'");
  }
}

TEST(GgufHostile, refuses_configurations_out_of_range) {
  const auto with = [](const char* key, int64_t value) {
    GgufWriter writer = TinyLlama();
    std::string payload;
    Append<int64_t>(&payload, value);
    writer.Raw(key, 11, payload);
    return writer;
  };
  for (const char* key : {"llama.block_count", "llama.embedding_length", "llama.feed_forward_length",
                          "llama.attention.head_count", "llama.attention.head_count_kv", "llama.context_length"}) {
    ExpectRefused(with(key, 0), kMalformed, std::string("key '") + key + "'");
    ExpectRefused(with(key, -1), kMalformed, std::string("key '") + key + "'");
    ExpectRefused(with(key, 1'000'000'000), kTooLarge, std::string("key '") + key + "'");
    ExpectRefused(with(key, std::numeric_limits<int64_t>::max()), kTooLarge, std::string("key '") + key + "'");
  }
  ExpectRefused(with("llama.attention.head_count", 1000), kUnsupported, "head size");
  ExpectRefused(with("llama.attention.key_length", 24), kUnsupported, "a multiple of 16, found 24");
  ExpectRefused(with("llama.attention.head_count_kv", 3), kMalformed, "a divisor of the heads");
  ExpectRefused(with("llama.rope.dimension_count", 8), kUnsupported, "llama.rope.dimension_count");
  ExpectRefused(with("llama.expert_count", 8), kUnsupported, "llama.expert_count");
  ExpectRefused(with("llama.vocab_size", 9), kMalformed, "llama.vocab_size");
  GgufWriter writer = TinyLlama();
  writer.Text("general.architecture", "mamba");
  ExpectRefused(writer, kUnsupported, "one of llama, qwen2, qwen3, gemma3, found 'mamba'");
  writer = TinyLlama();
  writer.Text("llama.rope.scaling.type", "yarn");
  ExpectRefused(writer, kUnsupported, "found 'yarn'");
  for (const float value : {std::nanf(""), INFINITY}) {
    writer = TinyLlama();
    writer.F32("llama.rope.freq_base", value);
    ExpectRefused(writer, kMalformed, "llama.rope.freq_base");
    writer = TinyLlama();
    writer.F32("llama.attention.layer_norm_rms_epsilon", value);
    ExpectRefused(writer, kMalformed, "layer_norm_rms_epsilon");
  }
  writer = TinyLlama();
  writer.F32("llama.rope.freq_base", 0);
  ExpectRefused(writer, kMalformed, "rope base");
  writer = TinyLlama();
  writer.Integers("llama.attention.head_count_kv", {1});
  ExpectRefused(writer, kUnsupported, "one value for all layers");
}

TEST(GgufHostile, refuses_tokenizers_that_contradict_themselves) {
  GgufWriter writer = TinyLlama();
  writer.Integers("tokenizer.ggml.token_type", {1, 1});
  ExpectRefused(writer, kMalformed, "8 elements, one per token, found 2");
  writer.Integers("tokenizer.ggml.token_type", {1, 1, 1, 1, 1, 1, 1, 7});
  ExpectRefused(writer, kMalformed, "token kinds from 1 to 6");
  writer = TinyLlama();
  writer.Floats("tokenizer.ggml.scores", {1});
  ExpectRefused(writer, kMalformed, "tokenizer.ggml.scores");
  writer = TinyLlama();
  writer.Texts("tokenizer.ggml.tokens", std::vector<std::string>(9, "x"));
  ExpectRefused(writer, kMalformed, "at most 8 pieces");
  for (const char* key : {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                          "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.padding_token_id"}) {
    writer = TinyLlama();
    writer.U32(key, 8);
    ExpectRefused(writer, kMalformed, "a token id under 8, found 8");
    writer.I32(key, -1);
    ExpectRefused(writer, kMalformed, key);
  }
  writer = TinyLlama();
  writer.Remove("tokenizer.ggml.bos_token_id");
  writer.Bool("tokenizer.ggml.add_bos_token", true);
  ExpectRefused(writer, kMalformed, "tokenizer.ggml.bos_token_id");
  writer = TinyLlama();
  writer.Text("tokenizer.chat_template", std::string((1 << 20) + 1, 'x'));
  ExpectRefused(writer, kTooLarge, "tokenizer.chat_template");
}

TEST(GgufHostile, reads_rope_frequency_factors_and_refuses_bad_ones) {
  GgufWriter writer = TinyLlama();
  writer.Tensor("rope_freqs.weight", {8}, 0, test::FloatBytes(8, 32));
  EXPECT_TRUE(Read(writer).ok()) << Read(writer).error().message;
  writer.At("rope_freqs.weight").bytes = test::FloatBytes(8, 0);
  ExpectRefused(writer, kMalformed, "factors in [1, 1e6]");
  writer.At("rope_freqs.weight").bytes = test::FloatBytes(8, std::nanf(""));
  ExpectRefused(writer, kMalformed, "factors in [1, 1e6]");
  writer.At("rope_freqs.weight").extents = {4};
  ExpectRefused(writer, kMalformed, "F32 [8]");
}

TEST(GgufHostile, prints_strangers_names_without_control_characters) {
  GgufWriter writer = TinyLlama();
  writer.Tensor("evil\x1b[2J\n", {32}, 0, test::FloatBytes(32));
  ExpectRefused(writer, kUnsupported, "'evil\\x1b[2J\\x0a'");
}

}  // namespace
}  // namespace samebit::model
