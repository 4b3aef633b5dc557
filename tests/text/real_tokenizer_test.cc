// The tokenizers and the chat template of the two real models, against ids that reference tokenizers gave.
// The models lie in models/ under their usual names; without them the tests fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "model/model.h"
#include "text/chat_template.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace samebit::text {
namespace {

using Ids = std::vector<TokenId>;

struct Expected {
  std::string text;
  Ids ids;
};

std::vector<Expected> ReadExpected(const std::string& name) {
  std::ifstream file(std::string(SAMEBIT_SOURCE_DIR) + "/tests/data/tokenizer/" + name + ".jsonl");
  std::vector<Expected> all;
  for (std::string line; std::getline(file, line);) {
    const auto object = boost::json::parse(line).as_object();
    Expected expected{std::string(object.at("text").as_string()), {}};
    for (const auto& id : object.at("ids").as_array()) expected.ids.push_back(static_cast<TokenId>(id.as_int64()));
    all.push_back(std::move(expected));
  }
  return all;
}

struct RealModel {
  const char* file;
  const char* expected;
  uint32_t vocabulary;
};

constexpr RealModel kSmolLm2{"smollm2-135m-instruct-q4_1.gguf", "smollm2", 49152};
constexpr RealModel kGemma3{"gemma-3-270m-q4_k_m.gguf", "gemma3", 262144};

Result<std::unique_ptr<model::Model>> OpenModel(const RealModel& real) {
  return model::Open(std::string(SAMEBIT_SOURCE_DIR) + "/models/" + real.file);
}

std::string BytesOf(const Tokenizer& tokenizer, const Ids& ids) {
  std::string bytes;
  for (TokenId id : ids) bytes += tokenizer.Bytes(id);
  return bytes;
}

class RealTokenizer : public testing::TestWithParam<RealModel> {};

TEST_P(RealTokenizer, gives_the_ids_of_the_reference) {
  auto model = OpenModel(GetParam());
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto start = std::chrono::steady_clock::now();
  auto tokenizer = MakeTokenizer((*model)->tokenizer());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds_to_make", std::to_string(seconds.count()));
  EXPECT_EQ((*tokenizer)->vocabulary(), GetParam().vocabulary);
  const auto expected = ReadExpected(GetParam().expected);
  ASSERT_EQ(expected.size(), 63u);
  for (const Expected& e : expected) {
    auto ids = (*tokenizer)->Encode(e.text, Specials::kParse);
    ASSERT_TRUE(ids.ok()) << ids.error().message;
    EXPECT_EQ(*ids, e.ids) << e.text;
  }
}

// As text no special token appears, every byte comes back, and the streamed text is the text.
TEST_P(RealTokenizer, gives_strangers_text_back_without_special_tokens) {
  auto model = OpenModel(GetParam());
  ASSERT_TRUE(model.ok()) << model.error().message;
  auto tokenizer = MakeTokenizer((*model)->tokenizer());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  int texts_with_specials = 0;
  for (const Expected& e : ReadExpected(GetParam().expected)) {
    auto ids = (*tokenizer)->Encode(e.text, Specials::kAsText);
    ASSERT_TRUE(ids.ok());
    Detokenizer detokenizer(**tokenizer);
    std::string streamed;
    for (TokenId id : *ids) {
      EXPECT_FALSE((*tokenizer)->IsControl(id)) << e.text;
      streamed += detokenizer.Push(id);
    }
    streamed += detokenizer.Finish();
    texts_with_specials += *ids != e.ids;
    // SentencePiece writes a space as U+2581, so that one cannot come back.
    if (GetParam().vocabulary == kGemma3.vocabulary && e.text.find("\xE2\x96\x81") != std::string::npos) continue;
    EXPECT_EQ(BytesOf(**tokenizer, *ids), e.text);
    EXPECT_EQ(streamed, e.text);
  }
  EXPECT_GE(texts_with_specials, 2) << "the corpus must hold special tokens for this test to mean something";
}

TEST_P(RealTokenizer, streams_every_token_pair_as_it_decodes_at_once) {
  auto model = OpenModel(GetParam());
  ASSERT_TRUE(model.ok()) << model.error().message;
  auto tokenizer = MakeTokenizer((*model)->tokenizer());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  // Steps through the vocabulary: neighbours far apart give cut and invalid characters in every combination.
  uint32_t id = 1;
  Detokenizer stream(**tokenizer);
  std::string streamed, bytes;
  for (int i = 0; i < 20'000; ++i) {
    id = (id * 1103515245u + 12345u) % (*tokenizer)->vocabulary();
    streamed += stream.Push(static_cast<TokenId>(id));
    bytes += (*tokenizer)->Bytes(static_cast<TokenId>(id));
  }
  streamed += stream.Finish();
  // All bytes as one token: the decoder sees them at once.
  class OneToken : public Tokenizer {
   public:
    explicit OneToken(std::string bytes) : bytes_(std::move(bytes)) {}
    Result<Ids> Encode(std::string_view, Specials) const override { return Ids{}; }
    std::string_view Bytes(TokenId) const override { return bytes_; }
    std::string_view Piece(TokenId) const override { return bytes_; }
    bool IsControl(TokenId) const override { return false; }
    uint32_t vocabulary() const override { return 1; }

   private:
    std::string bytes_;
  } whole(bytes);
  Detokenizer at_once(whole);
  std::string expected = at_once.Push(0);
  expected += at_once.Finish();
  EXPECT_EQ(streamed, expected);
}

INSTANTIATE_TEST_SUITE_P(Models, RealTokenizer, testing::Values(kSmolLm2, kGemma3),
                         [](const auto& info) { return std::string(info.param.expected); });

TEST(RealChatTemplate, smollm2_renders_and_encodes_to_the_tokens_of_its_training) {
  auto model = OpenModel(kSmolLm2);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const TokenizerSpec& spec = (*model)->tokenizer();
  ASSERT_TRUE(spec.chat_template.has_value());
  auto chat_template = MakeChatTemplate(*spec.chat_template);
  ASSERT_TRUE(chat_template.ok()) << chat_template.error().message;
  auto text = (*chat_template)->Render({{"user", "Hi"}}, {});
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text,
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  auto tokenizer = MakeTokenizer(spec);
  ASSERT_TRUE(tokenizer.ok());
  const Ids ids = *(*tokenizer)->Encode(*text, Specials::kParse);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 1), 3) << "<|im_start|>";
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 2), 2) << "<|im_end|>";
}

TEST(RealChatTemplate, gemma3_base_has_none) {
  auto model = OpenModel(kGemma3);
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_FALSE((*model)->tokenizer().chat_template.has_value());
}

}  // namespace
}  // namespace samebit::text
