// Cut, lying and hostile safetensors files and shard indexes.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "model/model.h"
#include "model/safetensors_reader.h"
#include "support/allocation_meter.h"
#include "support/tiny_hf.h"

namespace samebit::model {
namespace {

using test::SafetensorsEntry;
using test::SafetensorsFile;
using test::TinyHf;

constexpr ErrorCode kMalformed = ErrorCode::kMalformed;
constexpr ErrorCode kUnsupported = ErrorCode::kUnsupported;
constexpr ErrorCode kTooLarge = ErrorCode::kTooLarge;

Result<std::vector<Tensor>> Read(const std::string& file) {
  const auto buffer = std::make_unique<std::byte[]>(file.size());
  std::memcpy(buffer.get(), file.data(), file.size());
  return ReadSafetensors({buffer.get(), file.size()}, "w.safetensors");
}

void ExpectRefused(const std::string& file, ErrorCode code, const std::string& part_of_message) {
  const auto read = Read(file);
  ASSERT_FALSE(read.ok()) << "expected a refusal with " << part_of_message;
  EXPECT_STREQ(ErrorCodeName(read.error().code), ErrorCodeName(code)) << read.error().message;
  EXPECT_NE(read.error().message.find(part_of_message), std::string::npos) << read.error().message;
}

// One entry "a" with the given fields, and `data` after the header.
std::string One(const std::string& fields, const std::string& data) {
  std::string header = R"({"a":{)" + fields + "}}";
  while (header.size() % 8 != 0) header += ' ';
  return SafetensorsFile(header, data);
}

TEST(SafetensorsHostile, reads_names_shapes_types_and_bytes) {
  const auto read = Read(SafetensorsFile({{"x", "F32", "[2,3]", std::string(24, 'a')},
                                          {"y", "BF16", "[4]", std::string(8, 'b')},
                                          {"z", "F16", "[1,1,2,2]", std::string(8, 'c')}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[0].name, "x");
  EXPECT_EQ((*read)[0].rows, 2u);
  EXPECT_EQ((*read)[0].columns, 3u);
  EXPECT_EQ((*read)[1].type, arith::WeightType::kBf16);
  EXPECT_EQ((*read)[1].rows, 1u);
  EXPECT_EQ((*read)[1].columns, 4u);
  EXPECT_EQ((*read)[2].rows, 2u);
}

TEST(SafetensorsHostile, refuses_a_file_cut_at_every_length) {
  const std::string file =
      SafetensorsFile({{"x", "F32", "[2,3]", std::string(24, 'a')}, {"y", "F16", "[4]", "12345678"}});
  for (size_t length = 0; length < file.size(); ++length) {
    ASSERT_FALSE(Read(file.substr(0, length)).ok()) << "cut at " << length;
  }
  EXPECT_TRUE(Read(file).ok());
  EXPECT_FALSE(Read(file + "x").ok());
}

TEST(SafetensorsHostile, survives_every_byte_of_the_header_set_to_extremes) {
  const std::string file = SafetensorsFile({{"x", "F32", "[2,3]", std::string(24, 'a')}});
  size_t refused = 0;
  for (size_t i = 0; i < file.size() - 24; ++i) {
    for (const char value : {'\x00', '9', '"', '\xff'}) {
      std::string changed = file;
      changed[i] = value;
      refused += !Read(changed).ok();
    }
  }
  EXPECT_GT(refused, file.size());
}

TEST(SafetensorsHostile, refuses_header_lengths_that_lie) {
  for (const uint64_t length : {uint64_t{1000}, uint64_t{1} << 40, ~uint64_t{0}}) {
    std::string file;
    test::Append(&file, length);
    const uint64_t before = test::AllocatedBytes();
    ExpectRefused(file + "{}", kMalformed, "to the end of the file");
    EXPECT_LT(test::AllocatedBytes() - before, 1u << 16);
  }
}

TEST(SafetensorsHostile, refuses_shapes_and_offsets_that_lie) {
  const std::string f32 = R"("dtype":"F32",)";
  ExpectRefused(One(f32 + R"("shape":[2],"data_offsets":[0,4])", "1234"), kMalformed, "8 bytes by its shape");
  ExpectRefused(One(f32 + R"("shape":[1],"data_offsets":[4,8])", "12345678"), kMalformed, "no gap, no overlap");
  ExpectRefused(One(f32 + R"("shape":[1],"data_offsets":[0,4])", "12345678"), kMalformed, "the sum of the tensors");
  ExpectRefused(One(f32 + R"("shape":[1],"data_offsets":[0,4])", "12"), kMalformed, "data section of 2 bytes");
  for (const char* offsets : {"[-4,0]", "[8,4]", "[0]", "[0,4,8]", "[0.0,4.0]", "null", "[0,1e30]", "\"0,4\""}) {
    ExpectRefused(One(f32 + R"("shape":[1],"data_offsets":)" + offsets, "1234"), kMalformed, "data_offsets");
  }
  ExpectRefused(One(f32 + R"("shape":[4294967296,4294967296],"data_offsets":[0,4])", "1234"), kTooLarge, "elements");
  ExpectRefused(One(f32 + R"("shape":[9223372036854775808,2],"data_offsets":[0,4])", "1234"), kTooLarge, "elements");
  for (const char* shape : {"[0]", "[-1]", "[1.5]", "[]", "[1,1,1,1,1]", "1", "null", "[\"1\"]", "[1e30]"}) {
    ExpectRefused(One(f32 + R"("shape":)" + shape + R"(,"data_offsets":[0,4])", "1234"), kMalformed, "tensor 'a'");
  }
  ExpectRefused(One(R"("dtype":"I64","shape":[1],"data_offsets":[0,8])", "12345678"), kUnsupported, "found 'I64'");
  ExpectRefused(One(R"("dtype":5,"shape":[1],"data_offsets":[0,8])", "12345678"), kMalformed, "a dtype");
  ExpectRefused(One(R"("shape":[1],"data_offsets":[0,4])", "1234"), kMalformed, "found nothing");
}

TEST(SafetensorsHostile, refuses_overlapping_and_repeated_tensors) {
  const auto two = [](const std::string& second, const std::string& offsets) {
    std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},")" + second +
                         R"(":{"dtype":"F32","shape":[1],"data_offsets":)" + offsets + "}}";
    while (header.size() % 8 != 0) header += ' ';
    return SafetensorsFile(header, "12345678");
  };
  EXPECT_TRUE(Read(two("b", "[4,8]")).ok());
  ExpectRefused(two("b", "[0,4]"), kMalformed, "no gap, no overlap");
  ExpectRefused(two("b", "[2,6]"), kUnsupported, "boundary");
  ExpectRefused(two("a", "[4,8]"), kMalformed, "every key once");
  ExpectRefused(two("\\u0061", "[4,8]"), kMalformed, "every key once");
}

TEST(SafetensorsHostile, refuses_headers_that_are_not_an_object_of_objects) {
  for (const char* header : {"", "[]", "null", "{\"a\":5}", "{\"a\":[]}", "{\"a\":{}}", "{", "\xff\xff"}) {
    EXPECT_EQ(Read(SafetensorsFile(header, "")).error().code, kMalformed) << header;
  }
  EXPECT_EQ(Read(SafetensorsFile(std::string(1 << 20, '['), "")).error().code, kTooLarge);
}

TEST(SafetensorsHostile, refuses_data_off_its_boundary) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} )";
  ASSERT_NE(header.size() % 4, 0u);
  ExpectRefused(SafetensorsFile(header, "1234"), kUnsupported, "boundary of 4 bytes");
}

void ExpectFolderRefused(const TinyHf& folder, ErrorCode code, const std::string& part_of_message) {
  const auto model = Open(folder.Write());
  ASSERT_FALSE(model.ok()) << "expected a refusal with " << part_of_message;
  EXPECT_STREQ(ErrorCodeName(model.error().code), ErrorCodeName(code)) << model.error().message;
  EXPECT_NE(model.error().message.find(part_of_message), std::string::npos) << model.error().message;
}

// Moves the tensors into two shards with an index; `index_of` gives the shard's name by tensor.
void Shard(TinyHf* folder) {
  const std::vector<SafetensorsEntry> first(folder->tensors.begin(), folder->tensors.begin() + 4);
  const std::vector<SafetensorsEntry> second(folder->tensors.begin() + 4, folder->tensors.end());
  std::string map;
  for (const SafetensorsEntry& entry : first) map += "\"" + entry.name + "\":\"model-1.safetensors\",";
  for (const SafetensorsEntry& entry : second) map += "\"" + entry.name + "\":\"model-2.safetensors\",";
  map.pop_back();
  folder->files["model-1.safetensors"] = SafetensorsFile(first);
  folder->files["model-2.safetensors"] = SafetensorsFile(second);
  folder->files["model.safetensors.index.json"] = R"({"metadata":{"total_size":1},"weight_map":{)" + map + "}}";
  folder->tensors.clear();
}

TEST(ShardIndex, reads_the_same_model_from_shards) {
  TinyHf folder("shards");
  const auto whole = Open(folder.Write());
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  Shard(&folder);
  const auto sharded = Open(folder.Write());
  ASSERT_TRUE(sharded.ok()) << sharded.error().message;
  EXPECT_EQ((*sharded)->tensors().size(), (*whole)->tensors().size());
  const auto digests = (*sharded)->Digests();
  ASSERT_TRUE(digests.ok());
  ASSERT_EQ(digests->size(), 5u);
  EXPECT_EQ((*digests)[0].path, "config.json");
  EXPECT_EQ((*digests)[3].path, "model.safetensors.index.json");
  EXPECT_EQ((*digests)[4].path, "tokenizer.json");
}

TEST(ShardIndex, refuses_names_that_leave_the_folder_or_are_no_weights) {
  for (const char* name : {"../model-1.safetensors", "/etc/passwd", "a/b.safetensors", "..", "", ".safetensors",
                           "model.safetensors.index.json", "x\\u0000.safetensors"}) {
    TinyHf folder("escape");
    Shard(&folder);
    folder.Replace("model.safetensors.index.json", "model-1.safetensors", name);
    ExpectFolderRefused(folder, kMalformed, "the name of a .safetensors file in the same folder");
  }
}

TEST(ShardIndex, refuses_an_index_that_disagrees_with_its_shards) {
  const std::string index = "model.safetensors.index.json";
  TinyHf folder("index");
  Shard(&folder);
  folder.Replace(index, "model-1.safetensors", "model-3.safetensors");
  ExpectFolderRefused(folder, ErrorCode::kMalformed, "only tensors that the index places here");
  folder.Replace(index, "model-3.safetensors", "model-2.safetensors");
  ExpectFolderRefused(folder, kMalformed, "index");
  folder.Replace(index, "model-2.safetensors", "model-1.safetensors");
  folder.Replace(index, "model.embed_tokens.weight", "other");
  ExpectFolderRefused(folder, kMalformed, "only tensors that the index places here");
  folder.Replace(index, "other", "model.embed_tokens.weight");
  folder.Replace(index, "\"model.norm.weight\"", "\"model.embed_tokens.weight\"");
  ExpectFolderRefused(folder, kMalformed, "every key once");
}

TEST(ShardIndex, refuses_a_tensor_that_two_shards_hold) {
  TinyHf folder("twice");
  const auto entries = folder.tensors;
  Shard(&folder);
  folder.files["model-2.safetensors"] = SafetensorsFile(entries);
  ExpectFolderRefused(folder, kMalformed, "only tensors that the index places here");
}

TEST(ShardIndex, refuses_a_missing_shard_a_wrong_index_and_a_folder_without_weights) {
  TinyHf folder("missing");
  Shard(&folder);
  folder.files.erase("model-2.safetensors");
  ExpectFolderRefused(folder, ErrorCode::kNotFound, "model-2.safetensors");
  folder.files["model.safetensors.index.json"] = R"({"weight_map":[]})";
  ExpectFolderRefused(folder, kMalformed, "weight_map");
  folder.files["model.safetensors.index.json"] = R"({"weight_map":{"a":{}}})";
  ExpectFolderRefused(folder, kMalformed, "weight_map");
  folder.files.erase("model.safetensors.index.json");
  ExpectFolderRefused(folder, ErrorCode::kNotFound, "found neither");
}

TEST(ShardIndex, a_shard_that_links_to_itself_is_an_error_and_not_a_loop) {
  TinyHf folder("cycle");
  Shard(&folder);
  const std::string path = folder.Write();
  std::filesystem::remove(folder.folder / "model-1.safetensors");
  std::filesystem::create_symlink("model-1.safetensors", folder.folder / "model-1.safetensors");
  EXPECT_EQ(Open(path).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace samebit::model
