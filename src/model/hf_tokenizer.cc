#include "model/hf_tokenizer.h"

#include <limits>
#include <map>
#include <optional>

#include "base/json_kind.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "model/describe.h"
#include "model/hf_word_pieces.h"
#include "model/stop_pieces.h"
#include "world/file.h"

namespace samebit::model {
namespace {

namespace json = boost::json;

struct AddedToken {
  TokenId id = 0;
  bool special = false;
};
using AddedTokens = std::map<std::string, AddedToken, std::less<>>;

// A token id as JSON holds it. -1 stands for "none" in older configurations.
Result<std::optional<TokenId>> IdOf(const json::value& value, const std::string& where, const std::string& place,
                                    uint32_t vocabulary) {
  if (value.is_int64() && value.get_int64() == -1) return std::optional<TokenId>();
  if (!value.is_int64() || value.get_int64() < 0 || value.get_int64() >= int64_t{vocabulary}) {
    return FileError(ErrorCode::kMalformed, where, place, "a token id under " + std::to_string(vocabulary),
                     value.is_int64() ? std::to_string(value.get_int64()) : JsonKindName(&value));
  }
  return std::optional<TokenId>(static_cast<TokenId>(value.get_int64()));
}

Status ReadIdKey(const JsonFields& fields, const char* key, const std::string& where, uint32_t vocabulary,
                 std::optional<TokenId>* id) {
  const json::value* value = fields.Find(key);
  if (value == nullptr || id->has_value()) return {};
  ASSIGN_OR_RETURN(*id, IdOf(*value, where, std::string("key '") + key + "'", vocabulary));
  return {};
}

// eos_token_id: one id or a list. The first one of the first file becomes eos; all of them stop an answer.
Status ReadEosKey(const JsonFields& fields, const std::string& where, TokenizerSpec* spec) {
  const json::value* value = fields.Find("eos_token_id");
  if (value == nullptr) return {};
  const json::array single = {*value};
  for (const json::value& element : value->is_array() ? value->get_array() : single) {
    ASSIGN_OR_RETURN(const std::optional<TokenId> id, IdOf(element, where, "key 'eos_token_id'", spec->vocabulary));
    if (!id) continue;
    if (!spec->eos) spec->eos = id;
    spec->stop_ids.push_back(*id);
  }
  return {};
}

Result<AddedTokens> ReadAddedTokens(const JsonFields& tokenizer, const std::string& where, uint32_t vocabulary) {
  AddedTokens tokens;
  const json::value* list = tokenizer.Find("added_tokens");
  if (list == nullptr) return tokens;
  if (!list->is_array()) {
    return FileError(ErrorCode::kMalformed, where, "key 'added_tokens'", "an array", JsonKindName(list));
  }
  for (const json::value& entry : list->get_array()) {
    const json::object* object = entry.if_object();
    const json::value* id = object == nullptr ? nullptr : object->if_contains("id");
    const json::value* content = object == nullptr ? nullptr : object->if_contains("content");
    const json::value* special = object == nullptr ? nullptr : object->if_contains("special");
    if (id == nullptr || content == nullptr || !content->is_string()) {
      return FileError(ErrorCode::kMalformed, where, "key 'added_tokens'", "objects with id and content",
                       "another value");
    }
    // A tokenizer may know more tokens than the embedding has rows; those can never be used.
    const bool beyond = id->is_int64() && id->get_int64() >= int64_t{vocabulary} && id->get_int64() <= INT32_MAX;
    if (beyond) continue;
    ASSIGN_OR_RETURN(const std::optional<TokenId> number, IdOf(*id, where, "key 'added_tokens'", vocabulary));
    if (!number) continue;
    tokens[std::string(content->get_string())] = {*number,
                                                  special != nullptr && special->is_bool() && special->get_bool()};
  }
  return tokens;
}

// "eos_token" and its kin: a string, or an object with "content". Nothing where the name is not an added token: it then
// stands in the vocabulary, and config.json's ids serve.
std::optional<TokenId> NamedToken(const JsonFields& config, const char* key, const AddedTokens& added) {
  const json::value* value = config.Find(key);
  if (value != nullptr && value->is_object()) value = value->get_object().if_contains("content");
  if (value == nullptr || !value->is_string()) return std::nullopt;
  const auto found = added.find(std::string_view(value->get_string()));
  if (found == added.end()) return std::nullopt;
  return found->second.id;
}

struct Frame {
  std::optional<std::string> first, last;  // special tokens that the post-processor puts around a text
};

std::optional<std::string> SpecialTokenOf(const json::value& part) {
  const json::object* object = part.if_object();
  const json::value* token = object == nullptr ? nullptr : object->if_contains("SpecialToken");
  const json::value* id = token == nullptr || !token->is_object() ? nullptr : token->get_object().if_contains("id");
  if (id == nullptr || !id->is_string()) return std::nullopt;
  return std::string(id->get_string());
}

// "cls" and "sep" of the older post-processors: ["[CLS]", 101].
std::optional<std::string> PairedTokenOf(const json::object& processor, const char* key) {
  const json::value* pair = processor.if_contains(key);
  if (pair == nullptr || !pair->is_array() || pair->get_array().empty() || !pair->get_array()[0].is_string())
    return std::nullopt;
  return std::string(pair->get_array()[0].get_string());
}

// The frame of a TemplateProcessing post-processor, alone or inside a Sequence, or of a BertProcessing or
// RobertaProcessing. Unknown kinds add nothing.
Frame FrameOf(const json::value* processor) {
  const json::object* object = processor == nullptr ? nullptr : processor->if_object();
  if (object == nullptr) return {};
  if (const json::value* parts = object->if_contains("processors"); parts != nullptr && parts->is_array()) {
    for (const json::value& part : parts->get_array()) {
      const json::object* inner = part.if_object();
      if (inner != nullptr && (inner->contains("single") || inner->contains("cls"))) return FrameOf(&part);
    }
    return {};
  }
  if (object->contains("cls")) return {PairedTokenOf(*object, "cls"), PairedTokenOf(*object, "sep")};
  const json::value* single = object->if_contains("single");
  if (single == nullptr || !single->is_array() || single->get_array().empty()) return {};
  return {SpecialTokenOf(single->get_array().front()), SpecialTokenOf(single->get_array().back())};
}

Result<std::optional<std::string>> ReadTemplate(const std::string& folder, const JsonFields* config,
                                                std::vector<std::string>* names) {
  std::optional<std::string> source;
  const std::string config_path = folder + "tokenizer_config.json";
  if (world::KindOf(folder + "chat_template.jinja") == world::PathKind::kFile) {
    ASSIGN_OR_RETURN(source, world::ReadWholeFile(folder + "chat_template.jinja", limits::kTemplateBytesMax));
    names->push_back("chat_template.jinja");
    return source;
  }
  const json::value* value = config == nullptr ? nullptr : config->Find("chat_template");
  if (value == nullptr) return source;
  if (value->is_array()) {
    // A list of {"name", "template"}: the one called "default", or the only one.
    const json::value* chosen = nullptr;
    for (const json::value& entry : value->get_array()) {
      const json::object* object = entry.if_object();
      const json::value* name = object == nullptr ? nullptr : object->if_contains("name");
      const json::value* text = object == nullptr ? nullptr : object->if_contains("template");
      if (name == nullptr || text == nullptr || !name->is_string() || !text->is_string()) {
        return FileError(ErrorCode::kMalformed, config_path, "key 'chat_template'", "objects with name and template",
                         "another value");
      }
      if (name->get_string() == "default" || value->get_array().size() == 1) chosen = text;
    }
    if (chosen == nullptr) {
      return FileError(ErrorCode::kUnsupported, config_path, "key 'chat_template'", "a template called 'default'",
                       std::to_string(value->get_array().size()) + " others");
    }
    value = chosen;
  }
  if (!value->is_string()) {
    return FileError(ErrorCode::kMalformed, config_path, "key 'chat_template'", "a string or a list of templates",
                     JsonKindName(value));
  }
  if (value->get_string().size() > limits::kTemplateBytesMax) {
    return FileError(ErrorCode::kTooLarge, config_path, "key 'chat_template'",
                     "at most " + std::to_string(limits::kTemplateBytesMax) + " bytes",
                     std::to_string(value->get_string().size()));
  }
  source = std::string(value->get_string());
  return source;
}

Status ReadSampling(const JsonFields& fields, CheckpointSampling* sampling) {
  const auto number = [&](const char* key, std::optional<float>* target) -> Status {
    if (!fields.Has(key)) return {};
    ASSIGN_OR_RETURN(const double value, fields.Number(key));
    if (!(value >= -std::numeric_limits<float>::max() && value <= std::numeric_limits<float>::max())) {
      return fields.Complain(ErrorCode::kMalformed, key, "a number within the range of float", "another");
    }
    *target = static_cast<float>(value);
    return {};
  };
  RETURN_IF_ERROR(number("temperature", &sampling->temperature));
  RETURN_IF_ERROR(number("top_p", &sampling->top_p));
  RETURN_IF_ERROR(number("min_p", &sampling->min_p));
  RETURN_IF_ERROR(number("repetition_penalty", &sampling->repetition_penalty));
  if (fields.Has("top_k")) {
    ASSIGN_OR_RETURN(const uint64_t top_k, fields.Unsigned("top_k"));
    if (top_k > INT32_MAX) {
      return fields.Complain(ErrorCode::kMalformed, "top_k", "a number under 2^31", std::to_string(top_k));
    }
    sampling->top_k = static_cast<int32_t>(top_k);
  }
  if (fields.Has("do_sample")) {
    ASSIGN_OR_RETURN(sampling->do_sample, fields.Boolean("do_sample"));
  }
  return {};
}

// nullptr where the folder has no such file.
Result<std::unique_ptr<JsonFields>> ReadOptional(const std::string& folder, const char* name,
                                                 std::vector<std::string>* names) {
  if (world::KindOf(folder + name) == world::PathKind::kAbsent) return std::unique_ptr<JsonFields>();
  names->push_back(name);
  return JsonFields::ReadFile(folder + name);
}

// The tokenizer.json that vocab.txt stands for. Case is the one thing that it does not say itself.
Result<std::string> ReadWordPieces(const std::string& folder, const JsonFields* config) {
  ASSIGN_OR_RETURN(const std::string vocabulary,
                   world::ReadWholeFile(folder + "vocab.txt", limits::kJsonFileBytesMax));
  if (config == nullptr || !config->Has("do_lower_case")) {
    return FileError(ErrorCode::kUnsupported, folder + "vocab.txt", "case",
                     "do_lower_case in tokenizer_config.json, or a tokenizer.json", "neither");
  }
  ASSIGN_OR_RETURN(const bool lower_case, config->Boolean("do_lower_case"));
  return WordPieceJson(vocabulary, lower_case, folder + "vocab.txt");
}

// Which tokens frame a prompt, and their ids.
Status ReadFrame(const JsonFields& tokenizer, const JsonFields* config, const AddedTokens& added,
                 const std::string& where, TokenizerSpec* spec) {
  const Frame frame = FrameOf(tokenizer.Find("post_processor"));
  const auto decide = [&](const char* key, const std::optional<std::string>& piece, bool* add,
                          std::optional<TokenId>* id) -> Status {
    *add = piece.has_value();
    // The configuration's own word, where there is one, rebuilds the post-processor in the reference implementation.
    if (config != nullptr && config->Has(key)) {
      ASSIGN_OR_RETURN(*add, config->Boolean(key));
    }
    if (!*add) return {};
    if (piece) {
      const auto found = added.find(*piece);
      if (found != added.end()) *id = found->second.id;
    }
    if (!id->has_value()) {
      return FileError(ErrorCode::kMalformed, where, std::string(key), "the id of a token that every prompt gets",
                       "none in the tokenizer or config.json");
    }
    return {};
  };
  RETURN_IF_ERROR(decide("add_bos_token", frame.first, &spec->add_bos, &spec->bos));
  return decide("add_eos_token", frame.last, &spec->add_eos, &spec->eos);
}

}  // namespace

Result<HfText> ReadHfText(const std::string& folder, const JsonFields& config, uint32_t vocabulary) {
  HfText text;
  TokenizerSpec& spec = text.tokenizer;
  spec.vocabulary = vocabulary;
  ASSIGN_OR_RETURN(const auto tokenizer_config, ReadOptional(folder, "tokenizer_config.json", &text.names));
  const std::string tokenizer_path = folder + "tokenizer.json";
  if (world::KindOf(tokenizer_path) == world::PathKind::kAbsent &&
      world::KindOf(folder + "vocab.txt") == world::PathKind::kFile) {
    ASSIGN_OR_RETURN(spec.tokenizer_json, ReadWordPieces(folder, tokenizer_config.get()));
    text.names.push_back("vocab.txt");
  } else {
    ASSIGN_OR_RETURN(spec.tokenizer_json, world::ReadWholeFile(tokenizer_path, limits::kJsonFileBytesMax));
    text.names.push_back("tokenizer.json");
  }
  // The vocabulary and the merges are text/'s business and would fill memory here.
  ASSIGN_OR_RETURN(json::value parsed, ReadJson(spec.tokenizer_json, tokenizer_path, {{"model"}}));
  if (!parsed.is_object()) {
    return FileError(ErrorCode::kMalformed, tokenizer_path, AtByte(0), "an object", JsonKindName(&parsed));
  }
  const auto document = std::make_shared<const json::value>(std::move(parsed));
  const JsonFields tokenizer(document, document->get_object(), tokenizer_path);
  ASSIGN_OR_RETURN(const AddedTokens added, ReadAddedTokens(tokenizer, tokenizer_path, vocabulary));
  ASSIGN_OR_RETURN(const auto generation, ReadOptional(folder, "generation_config.json", &text.names));

  if (tokenizer_config) {
    spec.bos = NamedToken(*tokenizer_config, "bos_token", added);
    spec.eos = NamedToken(*tokenizer_config, "eos_token", added);
    spec.unk = NamedToken(*tokenizer_config, "unk_token", added);
    spec.pad = NamedToken(*tokenizer_config, "pad_token", added);
    if (spec.eos) spec.stop_ids.push_back(*spec.eos);
  }
  const std::pair<const JsonFields*, std::string> sources[] = {{generation.get(), folder + "generation_config.json"},
                                                               {&config, folder + "config.json"}};
  for (const auto& [fields, where] : sources) {
    if (fields == nullptr) continue;
    RETURN_IF_ERROR(ReadEosKey(*fields, where, &spec));
    RETURN_IF_ERROR(ReadIdKey(*fields, "bos_token_id", where, vocabulary, &spec.bos));
    RETURN_IF_ERROR(ReadIdKey(*fields, "pad_token_id", where, vocabulary, &spec.pad));
  }
  for (const auto& [piece, token] : added) {
    if (token.special && IsStopPiece(piece)) spec.stop_ids.push_back(token.id);
  }
  SortStopIds(&spec.stop_ids);
  RETURN_IF_ERROR(ReadFrame(tokenizer, tokenizer_config.get(), added, tokenizer_path, &spec));
  ASSIGN_OR_RETURN(spec.chat_template, ReadTemplate(folder, tokenizer_config.get(), &text.names));
  if (generation) RETURN_IF_ERROR(ReadSampling(*generation, &text.sampling));
  return text;
}

}  // namespace samebit::model
