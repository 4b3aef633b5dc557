#include "model/hf_word_pieces.h"

#include <array>
#include <map>

#include "base/json_writer.h"
#include "base/limits.h"
#include "model/describe.h"

namespace samebit::model {
namespace {

constexpr std::array kSpecials = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

using Pieces = std::map<std::string, uint32_t, std::less<>>;

Result<Pieces> ReadPieces(std::string_view text, const std::string& where) {
  Pieces pieces;
  for (uint32_t id = 0; !text.empty(); ++id) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (id >= limits::kVocabularyMax) {
      return FileError(ErrorCode::kTooLarge, where, "lines", "at most " + std::to_string(limits::kVocabularyMax), "more");
    }
    if (!pieces.emplace(line, id).second) {
      return FileError(ErrorCode::kMalformed, where, "line " + std::to_string(id + 1), "a piece of its own",
                       Printable(line) + " a second time");
    }
  }
  for (const char* special : {"[UNK]", "[CLS]", "[SEP]"}) {
    if (!pieces.contains(std::string_view(special)))
      return FileError(ErrorCode::kMalformed, where, "pieces", special, "none");
  }
  return pieces;
}

void WriteSpecialPart(JsonWriter& json, const char* piece) {
  json.BeginObject().Key("SpecialToken").BeginObject().Key("id").Text(piece).Key("type_id").Number(0);
  json.EndObject().EndObject();
}

// "single": [CLS] text [SEP]; "pair" is never used and must be there.
void WriteFrame(JsonWriter& json, const Pieces& pieces) {
  json.BeginObject().Key("type").Text("TemplateProcessing");
  for (const char* key : {"single", "pair"}) {
    json.Key(key).BeginArray();
    WriteSpecialPart(json, "[CLS]");
    json.BeginObject().Key("Sequence").BeginObject().Key("id").Text("A").Key("type_id").Number(0).EndObject().EndObject();
    WriteSpecialPart(json, "[SEP]");
    if (key == std::string_view("pair")) {
      json.BeginObject().Key("Sequence").BeginObject().Key("id").Text("B").Key("type_id").Number(1);
      json.EndObject().EndObject();
    }
    json.EndArray();
  }
  json.Key("special_tokens").BeginObject();
  for (const char* piece : {"[CLS]", "[SEP]"}) {
    json.Key(piece).BeginObject().Key("id").Text(piece);
    json.Key("ids").BeginArray().Number(pieces.find(std::string_view(piece))->second).EndArray();
    json.Key("tokens").BeginArray().Text(piece).EndArray().EndObject();
  }
  json.EndObject().EndObject();
}

bool IsUtf8Safe(std::string_view text) {
  // The writer replaces broken bytes by U+FFFD, so text that comes back unchanged was UTF-8.
  return JsonQuoted(text).find("\xEF\xBF\xBD") == std::string::npos || text.find("\xEF\xBF\xBD") != std::string_view::npos;
}

}  // namespace

Result<std::string> WordPieceJson(std::string_view vocabulary, bool lower_case, const std::string& where) {
  if (!IsUtf8Safe(vocabulary)) return FileError(ErrorCode::kMalformed, where, "bytes", "UTF-8", "others");
  ASSIGN_OR_RETURN(const Pieces pieces, ReadPieces(vocabulary, where));
  JsonWriter json;
  json.BeginObject().Key("version").Text("1.0").Key("truncation").Null().Key("padding").Null();
  json.Key("added_tokens").BeginArray();
  for (const char* special : kSpecials) {
    const auto found = pieces.find(std::string_view(special));
    if (found == pieces.end()) continue;
    json.BeginObject().Key("id").Number(found->second).Key("content").Text(special).Key("single_word").Bool(false);
    json.Key("lstrip").Bool(false).Key("rstrip").Bool(false).Key("normalized").Bool(false).Key("special").Bool(true);
    json.EndObject();
  }
  json.EndArray().Key("normalizer").BeginObject().Key("type").Text("BertNormalizer").Key("clean_text").Bool(true);
  json.Key("handle_chinese_chars").Bool(true).Key("strip_accents").Null().Key("lowercase").Bool(lower_case).EndObject();
  json.Key("pre_tokenizer").BeginObject().Key("type").Text("BertPreTokenizer").EndObject().Key("post_processor");
  WriteFrame(json, pieces);
  json.Key("decoder").BeginObject().Key("type").Text("WordPiece").Key("prefix").Text("##").Key("cleanup").Bool(true);
  json.EndObject().Key("model").BeginObject().Key("type").Text("WordPiece").Key("unk_token").Text("[UNK]");
  json.Key("continuing_subword_prefix").Text("##").Key("max_input_chars_per_word").Number(100).Key("vocab").BeginObject();
  for (const auto& [piece, id] : pieces) json.Key(piece).Number(id);
  return json.EndObject().EndObject().EndObject().Finish();
}

}  // namespace samebit::model
