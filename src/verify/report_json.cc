// Schema samebit.replay/1. Frozen: a field that changes its meaning is a new version; new fields may be added.
#include "verify/json_writer.h"
#include "verify/report_writers.h"

namespace samebit::verify {
namespace {

template <class T>
void OptionalUnsigned(JsonWriter& out, const char* key, const std::optional<T>& value) {
  out.Key(key);
  if (value) out.Unsigned(*value);
  else out.Null();
}

template <class T>
void OptionalNumber(JsonWriter& out, const char* key, const std::optional<T>& value) {
  out.Key(key);
  if (value) out.Number(*value);
  else out.Null();
}

void Options(JsonWriter& out, const engine::EngineOptions& options) {
  out.BeginObject();
  out.Key("threads"), out.Unsigned(options.threads);
  out.Key("isa"), out.String(kernels::IsaName(options.isa));
  out.Key("kv_cache_dtype"), out.String(options.cache_type == kernels::CacheType::kF16 ? "f16" : "f32");
  out.Key("page_tokens"), out.Unsigned(options.page_tokens);
  out.Key("cache_bytes"), out.Unsigned(options.cache_bytes);
  out.Key("context_max"), out.Unsigned(options.context_max);
  out.Key("step_rows_max"), out.Unsigned(options.step_rows_max);
  out.Key("prefill_chunk"), out.Unsigned(options.prefill_chunk);
  out.Key("sequences_max"), out.Unsigned(options.sequences_max);
  out.Key("prefix_cache"), out.Bool(options.prefix_cache);
  out.Key("tensor_parallel"), out.Unsigned(options.tensor_parallel);
  out.Key("preempt_every_steps"), out.Unsigned(options.preempt_every_steps);
  out.Key("reduction"), out.String(options.reduction == engine::Reduction::kLaw ? "law" : "control");
  out.EndObject();
}

void Sample(JsonWriter& out, const SampleReport& sample) {
  out.BeginObject();
  out.Key("prompt_id"), out.String(sample.prompt_id);
  out.Key("sampling"), out.String(SamplingKindName(sample.sampling));
  out.Key("sample_index"), out.Unsigned(sample.sample_index);
  out.Key("prompt_tokens"), out.Unsigned(sample.prompt_tokens);
  out.Key("tokens_asked"), out.Unsigned(sample.tokens_asked);
  out.Key("tokens_base"), out.Unsigned(sample.tokens_base);
  out.Key("tokens_found"), out.Unsigned(sample.tokens_found);
  out.Key("exact"), out.Bool(sample.exact());
  out.Key("tokens_equal"), out.Bool(sample.tokens_equal);
  out.Key("logprobs_equal"), out.Bool(sample.logprobs_equal);
  out.Key("logits_equal"), out.Bool(sample.logits_equal);
  OptionalUnsigned(out, "first_token_divergence", sample.first_token_divergence);
  OptionalUnsigned(out, "first_bit_divergence", sample.first_bit_divergence);
  OptionalUnsigned(out, "top5_shared_at_divergence", sample.top_shared_at);
  OptionalUnsigned(out, "top5_shared_before_divergence", sample.top_shared_before);
  OptionalNumber(out, "margin_base", sample.margin_base);
  OptionalNumber(out, "margin_found", sample.margin_found);
  OptionalNumber(out, "logprob_difference_max", sample.logprob_difference_max);
  out.Key("error");
  if (sample.error.empty()) out.Null();
  else out.String(sample.error);
  out.EndObject();
}

void Cell(JsonWriter& out, const CellReport& cell) {
  out.BeginObject();
  out.Key("axis"), out.String(AxisName(cell.axis));
  out.Key("value"), out.String(cell.value);
  out.Key("verdict"), out.String(VerdictName(cell.verdict));
  out.Key("description"), out.String(cell.description);
  out.Key("differs_from_base_in"), out.BeginArray();
  for (const std::string& name : cell.differs) out.String(name);
  out.EndArray();
  out.Key("evidence"), out.String(cell.evidence);
  out.Key("not_measured_reason");
  if (cell.not_measured_reason.empty()) out.Null();
  else out.String(cell.not_measured_reason);
  out.Key("drift");
  if (cell.drift) out.String(DriftName(*cell.drift));
  else out.Null();
  out.Key("drift_reason");
  if (cell.drift) out.String(cell.drift_reason);
  else out.Null();
  out.Key("samples_exact"), out.Unsigned(cell.exact_count());
  out.Key("samples_logprobs_equal"), out.Unsigned(cell.logprobs_equal_count());
  OptionalUnsigned(out, "first_divergence", cell.first_divergence());
  out.Key("seconds"), out.Number(cell.seconds);
  out.Key("engine_options"), Options(out, cell.options);
  out.Key("samples"), out.BeginArray();
  for (const SampleReport& sample : cell.samples) Sample(out, sample);
  out.EndArray();
  out.EndObject();
}

void Base(JsonWriter& out, const BaseReport& base) {
  out.BeginObject();
  out.Key("prompt_id"), out.String(base.prompt_id);
  out.Key("category"), out.String(base.category);
  out.Key("sampling"), out.String(SamplingKindName(base.sampling));
  out.Key("sample_index"), out.Unsigned(base.sample_index);
  out.Key("prompt_tokens"), out.Unsigned(base.prompt_tokens);
  out.Key("prefill_chunk"), out.Unsigned(base.prefill_chunk);
  out.Key("answer_sha256"), out.String(base.answer_sha256);
  out.Key("token_ids"), out.BeginArray();
  for (TokenId id : base.token_ids) out.Integer(id);
  out.EndArray();
  out.Key("margins"), out.BeginArray();
  for (float margin : base.margins) out.Number(margin);
  out.EndArray();
  out.EndObject();
}

void ModelOf(JsonWriter& out, const ReplayReport& report) {
  out.BeginObject();
  out.Key("path"), out.String(report.model_path);
  out.Key("name"), out.String(report.model_name);
  out.Key("family"), out.String(report.model_family);
  out.Key("files"), out.BeginArray();
  for (const model::FileDigest& file : report.model_files) {
    out.BeginObject();
    out.Key("path"), out.String(file.path);
    out.Key("bytes"), out.Unsigned(file.bytes);
    out.Key("sha256"), out.String(file.sha256.hex());
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
}

}  // namespace

std::string ReportJson(const ReplayReport& report) {
  JsonWriter out(JsonWriter::Layout::kIndented);
  out.BeginObject();
  out.Key("schema"), out.String("samebit.replay/1");
  out.Key("version"), out.String(report.version);
  out.Key("plan"), out.String(report.plan);
  out.Key("control"), out.Bool(report.control);
  out.Key("started_utc"), out.String(report.started_utc);
  out.Key("seconds"), out.Number(report.seconds);
  out.Key("exit_code"), out.Integer(ExitCode(report));
  out.Key("verdict"), out.String(VerdictSentence(report));
  out.Key("cells_exact"), out.Unsigned(report.count(Verdict::kExact));
  out.Key("cells_divergent"), out.Unsigned(report.count(Verdict::kDivergent));
  out.Key("cells_not_measured"), out.Unsigned(report.count(Verdict::kNotMeasured));
  out.Key("axes_caught"), out.BeginArray();
  for (Axis axis : report.caught()) out.String(AxisName(axis));
  out.EndArray();
  out.Key("model"), ModelOf(out, report);
  out.Key("machine"), out.BeginObject();
  out.Key("cpu"), out.String(report.machine);
  out.Key("cores"), out.Unsigned(report.cores);
  out.EndObject();
  out.Key("prompt_set"), out.BeginObject();
  out.Key("source"), out.String(report.prompt_set);
  out.Key("sha256"), out.String(report.prompt_set_sha256);
  out.Key("count"), out.Unsigned(report.prompt_count);
  out.EndObject();
  out.Key("seed"), out.String(std::to_string(report.seed));
  out.Key("base_engine_options"), Options(out, report.base_options);
  out.Key("cells"), out.BeginArray();
  for (const CellReport& cell : report.cells) Cell(out, cell);
  out.EndArray();
  out.Key("base_answers"), out.BeginArray();
  for (const BaseReport& base : report.bases) Base(out, base);
  out.EndArray();
  out.EndObject();
  return out.text() + "\n";
}

}  // namespace samebit::verify
