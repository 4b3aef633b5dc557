// The answer of the child protocol as JSON. Floats travel as the integers of their bits: nothing is lost, and NaN has a
// form.
#include <bit>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "verify/child.h"
#include "verify/json_fields.h"

namespace samebit::verify {
namespace {

namespace json = boost::json;

constexpr const char* kAnswerSchema = "samebit.replay-answer/1";

void WriteChoice(JsonWriter& out, const engine::Choice& choice) {
  const auto column = [&](const char* key, auto write) {
    out.Key(key), out.BeginArray();
    for (const engine::TokenRecord& token : choice.tokens) write(token);
    out.EndArray();
  };
  out.BeginObject();
  out.Key("sample_index"), out.Number(choice.sample_index);
  out.Key("finish_reason"), out.Text(engine::FinishReasonName(choice.finish_reason));
  column("ids", [&](const engine::TokenRecord& token) { out.Number(token.id); });
  column("logprob_bits",
         [&](const engine::TokenRecord& token) { out.Number(std::bit_cast<uint32_t>(token.logprob)); });
  column("margin_bits", [&](const engine::TokenRecord& token) { out.Number(std::bit_cast<uint32_t>(token.margin)); });
  column("logits_sha256", [&](const engine::TokenRecord& token) { out.Text(token.logits_digest.hex()); });
  column("top", [&](const engine::TokenRecord& token) {
    out.BeginObject();
    out.Key("ids"), out.BeginArray();
    for (const engine::TopToken& top : token.top) out.Number(top.id);
    out.EndArray();
    out.Key("logprob_bits"), out.BeginArray();
    for (const engine::TopToken& top : token.top) out.Number(std::bit_cast<uint32_t>(top.logprob));
    out.EndArray();
    out.EndObject();
  });
  out.EndObject();
}

Result<Sha256Digest> DigestOf(const json::value& value) {
  const auto nibble = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  Sha256Digest digest;
  const bool is_text = value.is_string() && value.get_string().size() == 64;
  for (size_t i = 0; is_text && i < 32; ++i) {
    const int high = nibble(value.get_string()[2 * i]), low = nibble(value.get_string()[2 * i + 1]);
    if (high < 0 || low < 0) return FieldError("logits_sha256", "64 hexadecimal digits");
    digest.bytes[i] = static_cast<uint8_t>(16 * high + low);
  }
  if (!is_text) return FieldError("logits_sha256", "64 hexadecimal digits");
  return digest;
}

Result<engine::Choice> ReadChoice(const json::value& value) {
  JsonFields in(value);
  engine::Choice choice;
  choice.sample_index = in.Unsigned32("sample_index");
  const std::string finish = in.Text("finish_reason");
  for (engine::FinishReason reason :
       {engine::FinishReason::kStop, engine::FinishReason::kLength, engine::FinishReason::kCancelled})
    if (finish == engine::FinishReasonName(reason)) choice.finish_reason = reason;
  const std::vector<uint32_t> ids = in.Numbers("ids"), logprobs = in.Numbers("logprob_bits"),
                              margins = in.Numbers("margin_bits");
  const json::array& digests = in.Array("logits_sha256");
  const json::array& tops = in.Array("top");
  if (in.error()) return *in.error();
  if (logprobs.size() != ids.size() || margins.size() != ids.size() || digests.size() != ids.size() ||
      tops.size() != ids.size())
    return FieldError("ids", "columns of one length");
  for (size_t i = 0; i < ids.size(); ++i) {
    engine::TokenRecord& token = choice.tokens.emplace_back();
    token.id = static_cast<TokenId>(ids[i]);
    token.logprob = std::bit_cast<float>(logprobs[i]);
    token.margin = std::bit_cast<float>(margins[i]);
    ASSIGN_OR_RETURN(token.logits_digest, DigestOf(digests[i]));
    JsonFields top(tops[i]);
    const std::vector<uint32_t> top_ids = top.Numbers("ids"), top_logprobs = top.Numbers("logprob_bits");
    if (top.error()) return *top.error();
    if (top_ids.size() != top_logprobs.size()) return FieldError("top", "columns of one length");
    for (size_t j = 0; j < top_ids.size(); ++j)
      token.top.push_back({static_cast<TokenId>(top_ids[j]), std::bit_cast<float>(top_logprobs[j])});
  }
  return choice;
}

void WriteCompletion(JsonWriter& out, const engine::Completion& completion) {
  out.BeginObject();
  out.Key("seed"), out.Text(std::to_string(completion.seed));
  out.Key("prompt_tokens"), out.Number(completion.prompt_tokens);
  out.Key("cached_prompt_tokens"), out.Number(completion.trace.cached_prompt_tokens);
  out.Key("preemptions"), out.Number(completion.trace.preemptions);
  out.Key("sequences_in_step_max"), out.Number(completion.trace.sequences_in_step_max);
  out.Key("rows_in_step_max"), out.Number(completion.trace.rows_in_step_max);
  out.Key("prefill_chunk_max"), out.Number(completion.trace.prefill_chunk_max);
  out.Key("steps"), out.Number(completion.trace.steps);
  out.Key("choices"), out.BeginArray();
  for (const engine::Choice& choice : completion.choices) WriteChoice(out, choice);
  out.EndArray();
  out.EndObject();
}

Result<engine::Completion> ReadCompletion(const json::value& value) {
  JsonFields in(value);
  engine::Completion completion;
  completion.seed = in.TextNumber("seed");
  completion.prompt_tokens = in.Unsigned32("prompt_tokens");
  completion.trace.cached_prompt_tokens = in.Unsigned32("cached_prompt_tokens");
  completion.trace.preemptions = in.Unsigned32("preemptions");
  completion.trace.sequences_in_step_max = in.Unsigned32("sequences_in_step_max");
  completion.trace.rows_in_step_max = in.Unsigned32("rows_in_step_max");
  completion.trace.prefill_chunk_max = in.Unsigned32("prefill_chunk_max");
  completion.trace.steps = in.Unsigned32("steps");
  const json::array& choices = in.Array("choices");
  if (in.error()) return *in.error();
  for (const json::value& choice_value : choices) {
    ASSIGN_OR_RETURN(engine::Choice choice, ReadChoice(choice_value));
    completion.choices.push_back(std::move(choice));
  }
  return completion;
}

}  // namespace

// Frozen, version 1.
std::string ChildAnswerJson(const ChildAnswer& answer) {
  JsonWriter out(JsonWriter::Layout::kCompact);
  out.BeginObject();
  out.Key("schema"), out.Text(kAnswerSchema);
  out.Key("process_id"), out.Number(answer.process_id);
  out.Key("model_sha256"), out.Text(answer.model_sha256);
  out.Key("completions"), out.BeginArray();
  for (const engine::Completion& completion : answer.completions) WriteCompletion(out, completion);
  out.EndArray();
  out.EndObject();
  return out.Finish() + "\n";
}

Result<ChildAnswer> ParseChildAnswer(std::string_view text) {
  ASSIGN_OR_RETURN(const json::value value, ReadJson(text, "the answer", {.skipped_keys = {}, .values_max = limits::kChildValuesMax}));
  JsonFields in(value);
  ChildAnswer answer;
  if (in.Text("schema") != kAnswerSchema) in.Fail(FieldError("schema", kAnswerSchema));
  answer.process_id = in.Unsigned("process_id", UINT64_MAX);
  answer.model_sha256 = in.Text("model_sha256");
  const json::array& completions = in.Array("completions");
  if (in.error()) return *in.error();
  for (const json::value& completion_value : completions) {
    ASSIGN_OR_RETURN(engine::Completion completion, ReadCompletion(completion_value));
    answer.completions.push_back(std::move(completion));
  }
  return answer;
}

}  // namespace samebit::verify
