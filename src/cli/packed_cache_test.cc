#include "cli/packed_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/packed_file.h"
#include "kernels/layout.h"
#include "model/model_digest.h"
#include "world/file.h"

namespace samebit::cli {
namespace {

namespace fs = std::filesystem;
using engine::Weights;

const std::string kModels = std::string(SAMEBIT_SOURCE_DIR) + "/tests/data/models/";

std::unique_ptr<model::Model> Open(const std::string& name) {
  auto opened = model::Open(kModels + name);
  EXPECT_TRUE(opened.ok());
  return std::move(opened).value();
}

// Equal panels, in every matrix of the model.
void ExpectSameBits(const model::Model& model, const Weights& a, const Weights& b) {
  const auto matrices = engine::MatricesOf(model);
  ASSERT_FALSE(matrices.empty());
  for (const engine::MatrixRole& role : matrices) {
    const kernels::PackedMatrix& one = a.matrix(role.role, role.layer).matrix;
    const kernels::PackedMatrix& two = b.matrix(role.role, role.layer).matrix;
    ASSERT_EQ(one.bytes(), two.bytes());
    ASSERT_GT(one.bytes(), 0u);
    ASSERT_EQ(one.type(), two.type());
    EXPECT_EQ(std::memcmp(one.panel(0), two.panel(0), one.bytes()), 0) << model::RoleName(role.role) << role.layer;
  }
  EXPECT_EQ(a.output_norm, b.output_norm);
  EXPECT_EQ(a.layers[0].query_bias, b.layers[0].query_bias);
}

class PackedCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "samebit_packed_cache_" + std::to_string(::getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_);
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  CachedWeights Load(const model::Model& model, world::LogSink& log, uint32_t threads = 1) const {
    const auto cache = FindPackedCache(model, folder_);
    EXPECT_TRUE(cache.ok());
    auto loaded = LoadWeights(model, *cache, {.threads = threads}, log);
    EXPECT_TRUE(loaded.ok());
    return std::move(loaded).value();
  }
  CachedWeights Load(const model::Model& model) {
    log_ = std::make_unique<world::MemoryLog>();
    return Load(model, *log_);
  }
  std::vector<std::string> lines() const { return log_->lines(); }
  std::vector<std::string> Names() const { return world::ListFolder(folder_).value(); }
  std::string OnlyFile() const {
    EXPECT_EQ(Names().size(), 1u);
    return folder_ + "/" + Names().front();
  }
  static std::string Content(const std::string& path) { return world::ReadWholeFile(path, 1 << 30).value(); }
  static void Replace(const std::string& path, const std::string& content) {
    ASSERT_TRUE(world::WriteFileAtomically(path, content).ok());
  }

  std::string folder_;
  std::unique_ptr<world::MemoryLog> log_;
};

TEST_F(PackedCacheTest, maps_what_it_kept_with_the_same_bits) {
  for (const char* name :
       {"llama-q4_1.gguf", "llama-q6_k.gguf", "qwen2.gguf", "gemma3", "mistral-window", "llama-untied.gguf"}) {
    const auto model = Open(name);
    const auto packed = engine::PackWeights(*model, 1);
    ASSERT_TRUE(packed.ok());
    const CachedWeights first = Load(*model);
    EXPECT_EQ(first.source, WeightsSource::kPackedAndKept) << name;
    const CachedWeights second = Load(*model);
    EXPECT_EQ(second.source, WeightsSource::kMapped) << name;
    EXPECT_TRUE(lines().empty());
    ExpectSameBits(*model, **packed, *first.weights);
    ExpectSameBits(*model, **packed, *second.weights);
    // The panels lie in the file, not in a copy.
    EXPECT_NE(second.weights->matrix(model::Role::kQuery, 0).matrix.panel(0),
              first.weights->matrix(model::Role::kQuery, 0).matrix.panel(0));
  }
  EXPECT_EQ(Names().size(), 6u);
}

TEST_F(PackedCacheTest, packs_where_no_folder_is_named) {
  const auto model = Open("llama-q4_1.gguf");
  world::MemoryLog log;
  const auto cache = FindPackedCache(*model, std::nullopt);
  ASSERT_TRUE(cache.ok());
  const auto loaded = LoadWeights(*model, *cache, {.threads = 1}, log);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->source, WeightsSource::kPacked);
  EXPECT_TRUE(Names().empty());
}

TEST_F(PackedCacheTest, refuses_a_folder_that_is_none) {
  const auto model = Open("llama-q4_1.gguf");
  EXPECT_EQ(FindPackedCache(*model, folder_ + "/no").error().code, ErrorCode::kNotFound);
  Replace(folder_ + "/file", "x");
  EXPECT_EQ(FindPackedCache(*model, folder_ + "/file").error().code, ErrorCode::kNotFound);
}

TEST_F(PackedCacheTest, a_damaged_file_is_packed_anew_with_one_warning) {
  const auto model = Open("llama-q4_1.gguf");
  const CachedWeights first = Load(*model);
  const std::string path = OnlyFile(), good = Content(path);
  const auto expect_rebuilt = [&](const std::string& bytes, const std::string& saying) {
    Replace(path, bytes);
    const CachedWeights loaded = Load(*model);
    EXPECT_EQ(loaded.source, WeightsSource::kPackedAndKept);
    ASSERT_EQ(lines().size(), 1u);
    EXPECT_NE(lines()[0].find(saying), std::string::npos) << lines()[0];
    EXPECT_NE(lines()[0].find("packed anew"), std::string::npos) << lines()[0];
    ExpectSameBits(*model, *first.weights, *loaded.weights);
    EXPECT_EQ(Content(OnlyFile()), good);
  };
  expect_rebuilt("", "expected a header");
  expect_rebuilt(good.substr(0, good.size() - 1), "bytes, found");
  expect_rebuilt(good + "x", "bytes, found");
  std::string other = good;
  other[12] ^= 2;  // as a build with another layout would write it
  expect_rebuilt(other, "the layout version");
  other = good;
  other[8] ^= 2;
  expect_rebuilt(other, "the file version");
  other = good;
  other[20] ^= 1;
  expect_rebuilt(other, "the model's digest");
  other = good;
  other[good.size() - 100] ^= 1;
  expect_rebuilt(other, "the digest of matrix");
}

TEST_F(PackedCacheTest, a_file_of_another_model_under_this_name_is_packed_anew) {
  const auto model = Open("llama-q4_1.gguf"), other = Open("llama-q4_0.gguf");
  const CachedWeights right = Load(*model);
  const std::string path = OnlyFile();
  fs::remove(path);
  Load(*other);
  fs::rename(OnlyFile(), path);
  const CachedWeights loaded = Load(*model);
  EXPECT_EQ(loaded.source, WeightsSource::kPackedAndKept);
  EXPECT_NE(lines().at(0).find("the model's digest"), std::string::npos);
  ExpectSameBits(*model, *right.weights, *loaded.weights);
}

TEST_F(PackedCacheTest, a_file_that_others_may_write_is_not_trusted) {
  const auto model = Open("llama-q4_1.gguf");
  Load(*model);
  const std::string path = OnlyFile();
  fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(Load(*model).source, WeightsSource::kPackedAndKept);
  EXPECT_NE(lines().at(0).find("only its owner"), std::string::npos) << lines()[0];
  EXPECT_EQ(Load(*model).source, WeightsSource::kMapped);  // it was replaced by an own one
}

TEST_F(PackedCacheTest, a_link_is_not_followed_and_what_it_names_not_touched) {
  const auto model = Open("llama-q4_1.gguf");
  Load(*model);
  const std::string path = OnlyFile(), outside = folder_ + "_outside";
  fs::rename(path, outside);
  fs::create_symlink(outside, path);
  const std::string before = Content(outside);
  EXPECT_EQ(Load(*model).source, WeightsSource::kPackedAndKept);
  EXPECT_EQ(lines().size(), 1u);
  EXPECT_FALSE(fs::is_symlink(path));
  EXPECT_EQ(Content(outside), before);
  fs::remove(outside);
}

// Permissions do not bind root, so the file cannot be put there by another obstacle: a folder in its place.
TEST_F(PackedCacheTest, a_file_that_cannot_be_kept_costs_a_warning_and_no_answer) {
  const auto model = Open("llama-q4_1.gguf");
  const CachedWeights first = Load(*model);
  const std::string path = OnlyFile();
  fs::remove(path);
  fs::create_directories(path + "/in the way");
  const CachedWeights loaded = Load(*model);
  EXPECT_EQ(loaded.source, WeightsSource::kPacked);
  ASSERT_EQ(lines().size(), 2u);
  EXPECT_NE(lines()[1].find("not kept"), std::string::npos) << lines()[1];
  ExpectSameBits(*model, *first.weights, *loaded.weights);
  EXPECT_EQ(Names().size(), 1u);  // no temporary file stays
}

TEST_F(PackedCacheTest, a_map_outlives_the_file_and_its_replacement) {
  const auto model = Open("llama-q4_1.gguf");
  const CachedWeights first = Load(*model), mapped = Load(*model);
  ASSERT_EQ(mapped.source, WeightsSource::kMapped);
  const std::string path = OnlyFile();
  Replace(path, "short");
  ExpectSameBits(*model, *first.weights, *mapped.weights);
  fs::remove(path);
  ExpectSameBits(*model, *first.weights, *mapped.weights);
}

TEST_F(PackedCacheTest, many_at_once_agree) {
  const auto model = Open("llama-q4_1.gguf");
  std::vector<std::shared_ptr<const Weights>> loaded(8);
  {
    std::vector<std::jthread> threads;
    for (auto& one : loaded) {
      threads.emplace_back([&] {
        world::MemoryLog log;
        one = Load(*model, log, 2).weights;
        EXPECT_TRUE(log.lines().empty()) << log.lines()[0];
      });
    }
  }
  for (const auto& one : loaded) ExpectSameBits(*model, *loaded[0], *one);
  EXPECT_EQ(Names().size(), 1u);
}

// The form itself, over a file in memory.
class PackedFileTest : public testing::Test {
 protected:
  PackedFileTest()
      : model_(Open("llama-q4_1.gguf")),
        weights_(engine::PackWeights(*model_, 1).value()),
        form_(*model_, model::DigestOfFiles(model_->Digests().value())) {
    std::string header;
    for (const std::string_view piece : form_.Write(*weights_, 2, &header)) file_ += piece;
  }
  Status Check(std::string_view bytes, uint32_t threads = 1) const {
    return form_.Check(std::as_bytes(std::span(bytes)), threads);
  }

  std::unique_ptr<model::Model> model_;
  std::shared_ptr<const Weights> weights_;
  engine::PackedFile form_;
  std::string file_;
};

TEST_F(PackedFileTest, is_as_long_as_it_says_and_passes) {
  EXPECT_EQ(file_.size(), form_.bytes());
  EXPECT_TRUE(Check(file_).ok());
  EXPECT_TRUE(Check(file_, 3).ok());
}

TEST_F(PackedFileTest, is_the_same_whoever_writes_it) {
  std::string header, again;
  for (const std::string_view piece : form_.Write(*weights_, 1, &header)) again += piece;
  EXPECT_EQ(again, file_);
}

TEST_F(PackedFileTest, refuses_every_cut) {
  // The size is compared before a panel is read; every cut ends there.
  for (size_t length = 0; length < file_.size(); ++length) {
    const Status status = Check(std::string_view(file_).substr(0, length));
    ASSERT_FALSE(status.ok()) << length;
    ASSERT_EQ(status.error().code, ErrorCode::kMalformed);
  }
}

TEST_F(PackedFileTest, refuses_a_flipped_bit_anywhere) {
  uint64_t tried = 0;
  // Every bit of the first 256 bytes, one bit of every byte of the header, one of each 13th byte behind.
  for (size_t at = 0; at < file_.size(); at += at < 8192 ? 1 : 13) {
    for (int bit = 0; bit < 8; ++bit) {
      if (at >= 256 && bit != static_cast<int>(at % 8)) continue;
      file_[at] ^= static_cast<char>(1 << bit);
      const Status status = Check(file_);
      file_[at] ^= static_cast<char>(1 << bit);
      ASSERT_FALSE(status.ok()) << "byte " << at << " bit " << bit;
      ASSERT_EQ(status.error().code, ErrorCode::kMalformed);
      ++tried;
    }
  }
  EXPECT_GT(tried, file_.size() / 13);
  EXPECT_TRUE(Check(file_).ok());
}

TEST_F(PackedFileTest, is_another_for_another_model_digest) {
  Sha256Digest other = model::DigestOfFiles(model_->Digests().value());
  other.bytes[31] ^= 1;
  const engine::PackedFile another(*model_, other);
  EXPECT_NE(another.name(), form_.name());
  EXPECT_FALSE(another.Check(std::as_bytes(std::span(file_)), 1).ok());
  // The name carries the layout version, so that builds with different layouts can share a folder.
  EXPECT_TRUE(form_.name().ends_with("-" + std::to_string(kernels::layout::kLayoutVersion)));
}

}  // namespace
}  // namespace samebit::cli
