#include "cli/answer_json.h"

#include "arith/environment.h"
#include "base/json_writer.h"
#include "cli/number_text.h"

namespace samebit::cli {
namespace {

void WriteIds(JsonWriter& json, const std::vector<TokenId>& ids) {
  json.BeginArray();
  for (const TokenId id : ids) json.Number(id);
  json.EndArray();
}

// A decimal for people and the bits for comparing.
void WriteFloat(JsonWriter& json, const std::string& name, float value) {
  json.Key(name).Number(value).Key(name + "_bits").Text(FloatBits(value));
}

void WriteRecord(JsonWriter& json, const engine::TokenRecord& record, const text::Tokenizer& tokenizer, bool digest) {
  json.BeginObject().Key("id").Number(record.id).Key("token").Text(tokenizer.Piece(record.id));
  WriteFloat(json, "logprob", record.logprob);
  WriteFloat(json, "margin", record.margin);
  if (digest) json.Key("logits_digest").Text(record.logits_digest.hex());
  json.Key("top").BeginArray();
  for (const engine::TopToken& top : record.top) {
    json.BeginObject().Key("id").Number(top.id).Key("token").Text(tokenizer.Piece(top.id));
    WriteFloat(json, "logprob", top.logprob);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

void WriteChoice(JsonWriter& json, const AnswerDocument& document, const engine::Choice& choice) {
  json.Key("text").Text(choice.text).Key("token_ids").BeginArray();
  for (const engine::TokenRecord& record : choice.tokens) json.Number(record.id);
  json.EndArray().Key("finish_reason").Text(engine::FinishReasonName(choice.finish_reason));
  json.Key("logits_digest").Text(choice.logits_digest.hex());
  json.Key("cumulative_logprob").Number(choice.cumulative_logprob);
  if (!document.logprobs) return;
  json.Key("logprobs").BeginArray();
  for (const engine::TokenRecord& record : choice.tokens) WriteRecord(json, record, *document.loaded.tokenizer, true);
  json.EndArray();
}

void WriteUsage(JsonWriter& json, const engine::Completion& completion) {
  uint64_t completion_tokens = 0;
  for (const engine::Choice& choice : completion.choices) completion_tokens += choice.tokens.size();
  json.Key("usage").BeginObject();
  json.Key("prompt_tokens").Number(completion.prompt_tokens).Key("completion_tokens").Number(completion_tokens);
  json.Key("total_tokens").Number(completion.prompt_tokens + completion_tokens);
  json.Key("cached_tokens").Number(completion.trace.cached_prompt_tokens).EndObject();
}

Status WriteModel(JsonWriter& json, const model::Model& model) {
  ASSIGN_OR_RETURN(const std::vector<model::FileDigest> files, model.Digests());
  json.Key("model").BeginObject().Key("path").Text(model.path()).Key("name").Text(model.config().name);
  json.Key("family").Text(model.config().family);
  // One file: its digest stands for the model. A folder's files stand in the list alone.
  if (files.size() == 1) json.Key("sha256").Text(files.front().sha256.hex());
  json.Key("files").BeginArray();
  for (const model::FileDigest& file : files) {
    json.BeginObject().Key("path").Text(file.path).Key("bytes").Number(file.bytes);
    json.Key("sha256").Text(file.sha256.hex()).EndObject();
  }
  json.EndArray().EndObject();
  return {};
}

}  // namespace

Result<std::string> AnswerJson(const AnswerDocument& document) {
  const engine::Completion& completion = document.completion;
  CHECK(!completion.choices.empty());
  JsonWriter json;
  json.BeginObject();
  WriteChoice(json, document, completion.choices.front());
  json.Key("prompt_token_ids");
  WriteIds(json, document.prompt);
  WriteUsage(json, completion);
  json.Key("seed").Text(std::to_string(document.sampling.request.sampling.seed));
  json.Key("effective_sampling").BeginObject();
  for (const EffectiveParameter& parameter : document.sampling.parameters) {
    json.Key(parameter.name).BeginObject().Key("value").Verbatim(parameter.json);
    json.Key("source").Text(parameter.source).EndObject();
  }
  json.EndObject();
  json.Key("answer_digest").Text(engine::AnswerDigest(completion).hex());
  if (completion.choices.size() > 1) {
    json.Key("choices").BeginArray();
    for (const engine::Choice& choice : completion.choices) {
      json.BeginObject().Key("sample_index").Number(choice.sample_index);
      WriteChoice(json, document, choice);
      json.EndObject();
    }
    json.EndArray();
  }
  if (!completion.prompt_records.empty()) {
    json.Key("prompt_logprobs").BeginArray();
    for (const engine::TokenRecord& record : completion.prompt_records) {
      WriteRecord(json, record, *document.loaded.tokenizer, false);
    }
    json.EndArray();
  }
  RETURN_IF_ERROR(WriteModel(json, *document.loaded.model));
  json.Key("arithmetic").Text(arith::kArithmeticVersion).Key("isa").Text(kernels::IsaName(document.options.isa));
  json.Key("threads").Number(document.options.threads).EndObject();
  return json.Finish();
}

}  // namespace samebit::cli
