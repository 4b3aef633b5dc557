// What /tokenizer_info says of a tokenizer.
#include "openai/tokenizer_info.h"

#include <gtest/gtest.h>

namespace samebit::openai {
namespace {

TEST(TokenizerInfoJson, says_what_the_model_has) {
  TokenizerInfo info;
  info.bos = "<s>";
  info.eos = "\"end\"";
  info.unk = "?";
  info.pad = "<pad>";
  info.add_bos = true;
  info.context_max = 8192;
  info.chat_template = "{{ x }}\n";
  EXPECT_EQ(TokenizerInfoJson(info),
            R"({"tokenizer_class":"PreTrainedTokenizerFast","bos_token":"<s>","eos_token":"\"end\"","unk_token":"?",)"
            R"("pad_token":"<pad>","add_bos_token":true,"add_eos_token":false,"model_max_length":8192,)"
            R"("chat_template":"{{ x }}\n"})");
}

TEST(TokenizerInfoJson, says_null_where_the_model_has_none) {
  TokenizerInfo info;
  info.add_eos = true;
  info.context_max = 1;
  info.eos = "";
  EXPECT_EQ(TokenizerInfoJson(info),
            R"({"tokenizer_class":"PreTrainedTokenizerFast","bos_token":null,"eos_token":"","unk_token":null,)"
            R"("pad_token":null,"add_bos_token":false,"add_eos_token":true,"model_max_length":1,"chat_template":null})");
}

}  // namespace
}  // namespace samebit::openai
