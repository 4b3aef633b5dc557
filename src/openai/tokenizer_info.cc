#include "openai/tokenizer_info.h"

#include "base/json_writer.h"

namespace samebit::openai {
namespace {

void WriteText(JsonWriter& json, const char* name, const std::optional<std::string>& text) {
  json.Key(name);
  if (text)
    json.Text(*text);
  else
    json.Null();
}

}  // namespace

std::string TokenizerInfoJson(const TokenizerInfo& info) {
  JsonWriter json;
  // The class of transformers that holds any tokenizer of the `tokenizers` library, and that is the library used here.
  json.BeginObject().Key("tokenizer_class").Text("PreTrainedTokenizerFast");
  WriteText(json, "bos_token", info.bos);
  WriteText(json, "eos_token", info.eos);
  WriteText(json, "unk_token", info.unk);
  WriteText(json, "pad_token", info.pad);
  json.Key("add_bos_token").Bool(info.add_bos).Key("add_eos_token").Bool(info.add_eos);
  json.Key("model_max_length").Number(info.context_max);
  WriteText(json, "chat_template", info.chat_template);
  return json.EndObject().Finish();
}

}  // namespace samebit::openai
