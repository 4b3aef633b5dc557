// Schema samebit.replay/1. Frozen: a field that changes its meaning is a new version; new fields may be added.
#include "base/json_writer.h"
#include "verify/engine_options_json.h"
#include "verify/report_writers.h"

namespace samebit::verify {
namespace {

template <class T>
void OptionalNumber(JsonWriter& out, const char* key, const std::optional<T>& value) {
  out.Key(key);
  if (value) out.Number(*value);
  else out.Null();
}

void Sample(JsonWriter& out, const SampleReport& sample, bool is_remote) {
  out.BeginObject();
  out.Key("prompt_id"), out.Text(sample.prompt_id);
  out.Key("sampling"), out.Text(SamplingKindName(sample.sampling));
  out.Key("sample_index"), out.Number(sample.sample_index);
  out.Key("prompt_tokens"), out.Number(sample.prompt_tokens);
  out.Key("tokens_asked"), out.Number(sample.tokens_asked);
  out.Key("tokens_base"), out.Number(sample.tokens_base);
  out.Key("tokens_found"), out.Number(sample.tokens_found);
  out.Key("exact"), out.Bool(sample.exact());
  out.Key("tokens_equal"), out.Bool(sample.tokens_equal);
  out.Key("logprobs_equal"), out.Bool(sample.logprobs_equal);
  out.Key("logits_equal");
  if (is_remote) out.Null();
  else out.Bool(sample.logits_equal);
  OptionalNumber(out, "first_token_divergence", sample.first_token_divergence);
  OptionalNumber(out, "first_bit_divergence", sample.first_bit_divergence);
  OptionalNumber(out, "top5_shared_at_divergence", sample.top_shared_at);
  OptionalNumber(out, "top5_shared_before_divergence", sample.top_shared_before);
  OptionalNumber(out, "margin_base", sample.margin_base);
  OptionalNumber(out, "margin_found", sample.margin_found);
  OptionalNumber(out, "logprob_difference_max", sample.logprob_difference_max);
  out.Key("error");
  if (sample.error.empty()) out.Null();
  else out.Text(sample.error);
  out.EndObject();
}

void Cell(JsonWriter& out, const CellReport& cell, bool is_remote) {
  out.BeginObject();
  out.Key("axis"), out.Text(AxisName(cell.axis));
  out.Key("value"), out.Text(cell.value);
  out.Key("verdict"), out.Text(VerdictName(cell.verdict));
  out.Key("description"), out.Text(cell.description);
  out.Key("differs_from_base_in"), out.BeginArray();
  for (const std::string& name : cell.differs) out.Text(name);
  out.EndArray();
  out.Key("evidence"), out.Text(cell.evidence);
  out.Key("not_measured_reason");
  if (cell.not_measured_reason.empty()) out.Null();
  else out.Text(cell.not_measured_reason);
  out.Key("drift");
  if (cell.drift) out.Text(DriftName(*cell.drift));
  else out.Null();
  out.Key("drift_reason");
  if (cell.drift) out.Text(cell.drift_reason);
  else out.Null();
  out.Key("samples_exact"), out.Number(cell.exact_count());
  out.Key("samples_logprobs_equal"), out.Number(cell.logprobs_equal_count());
  OptionalNumber(out, "first_divergence", cell.first_divergence());
  out.Key("seconds"), out.Number(cell.seconds);
  out.Key("engine_options");
  if (is_remote) out.Null();
  else WriteEngineOptions(out, cell.options);
  out.Key("samples"), out.BeginArray();
  for (const SampleReport& sample : cell.samples) Sample(out, sample, is_remote);
  out.EndArray();
  out.EndObject();
}

void Base(JsonWriter& out, const BaseReport& base) {
  out.BeginObject();
  out.Key("prompt_id"), out.Text(base.prompt_id);
  out.Key("category"), out.Text(base.category);
  out.Key("sampling"), out.Text(SamplingKindName(base.sampling));
  out.Key("sample_index"), out.Number(base.sample_index);
  out.Key("prompt_tokens"), out.Number(base.prompt_tokens);
  out.Key("prefill_chunk"), out.Number(base.prefill_chunk);
  out.Key("answer_sha256"), out.Text(base.answer_sha256);
  out.Key("token_ids"), out.BeginArray();
  for (TokenId id : base.token_ids) out.Number(id);
  out.EndArray();
  out.Key("margins"), out.BeginArray();
  for (float margin : base.margins) out.Number(margin);
  out.EndArray();
  out.EndObject();
}

void ModelOf(JsonWriter& out, const ReplayReport& report) {
  out.BeginObject();
  out.Key("path"), out.Text(report.model_path);
  out.Key("name"), out.Text(report.model_name);
  out.Key("family"), out.Text(report.model_family);
  out.Key("files"), out.BeginArray();
  for (const model::FileDigest& file : report.model_files) {
    out.BeginObject();
    out.Key("path"), out.Text(file.path);
    out.Key("bytes"), out.Number(file.bytes);
    out.Key("sha256"), out.Text(file.sha256.hex());
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
}

void ServerOf(JsonWriter& out, const RemoteReport& remote) {
  out.BeginObject();
  out.Key("url"), out.Text(remote.url);
  out.Key("kind"), out.Text(remote.server);
  out.Key("endpoint"), out.Text(remote.endpoint);
  out.Key("system_fingerprint"), out.Text(remote.fingerprint);
  out.Key("token_identity"), out.Text(remote.identity);
  out.Key("token_identity_source"), out.Text(remote.identity_source);
  out.Key("logprobs_compared"), out.Bool(remote.logprobs_compared);
  out.Key("logits_compared"), out.Bool(false);  // HTTP shows log-probabilities at most
  out.Key("notes"), out.BeginArray();
  for (const std::string& note : remote.notes) out.Text(note);
  out.EndArray();
  out.EndObject();
}

}  // namespace

std::string ReportJson(const ReplayReport& report) {
  JsonWriter out(JsonWriter::Layout::kIndented);
  out.BeginObject();
  out.Key("schema"), out.Text("samebit.replay/1");
  out.Key("version"), out.Text(report.version);
  out.Key("plan"), out.Text(report.plan);
  out.Key("control"), out.Bool(report.control);
  out.Key("started_utc"), out.Text(report.started_utc);
  out.Key("seconds"), out.Number(report.seconds);
  out.Key("exit_code"), out.Number(ExitCode(report));
  out.Key("verdict"), out.Text(VerdictSentence(report));
  out.Key("cells_exact"), out.Number(report.count(Verdict::kExact));
  out.Key("cells_divergent"), out.Number(report.count(Verdict::kDivergent));
  out.Key("cells_not_measured"), out.Number(report.count(Verdict::kNotMeasured));
  out.Key("axes_caught"), out.BeginArray();
  for (Axis axis : report.caught()) out.Text(AxisName(axis));
  out.EndArray();
  out.Key("model"), ModelOf(out, report);
  out.Key("machine"), out.BeginObject();
  out.Key("cpu"), out.Text(report.machine);
  out.Key("cores"), out.Number(report.cores);
  out.EndObject();
  out.Key("prompt_set"), out.BeginObject();
  out.Key("source"), out.Text(report.prompt_set);
  out.Key("sha256"), out.Text(report.prompt_set_sha256);
  out.Key("count"), out.Number(report.prompt_count);
  out.EndObject();
  out.Key("seed"), out.Text(std::to_string(report.seed));
  out.Key("base_engine_options");
  if (report.remote) out.Null();
  else WriteEngineOptions(out, report.base_options);
  out.Key("server");
  if (report.remote) ServerOf(out, *report.remote);
  else out.Null();
  out.Key("cells"), out.BeginArray();
  for (const CellReport& cell : report.cells) Cell(out, cell, report.remote.has_value());
  out.EndArray();
  out.Key("base_answers"), out.BeginArray();
  for (const BaseReport& base : report.bases) Base(out, base);
  out.EndArray();
  out.EndObject();
  return out.Finish() + "\n";
}

}  // namespace samebit::verify
