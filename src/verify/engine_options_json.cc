#include "verify/engine_options_json.h"

#include "base/limits.h"

namespace samebit::verify {

// Part of samebit.replay/1 and samebit.replay-job/2: frozen with them.
void WriteEngineOptions(JsonWriter& out, const engine::EngineOptions& options) {
  out.BeginObject();
  out.Key("threads").Number(options.threads);
  out.Key("isa").Text(kernels::IsaName(options.isa));
  out.Key("kv_cache_dtype").Text(options.cache_type == kernels::CacheType::kF16 ? "f16" : "f32");
  out.Key("page_tokens").Number(options.page_tokens);
  out.Key("cache_bytes").Number(options.cache_bytes);
  out.Key("context_max").Number(options.context_max);
  out.Key("step_rows_max").Number(options.step_rows_max);
  out.Key("prefill_chunk").Number(options.prefill_chunk);
  out.Key("prefill_beside_decodes").Number(options.prefill_beside_decodes);
  out.Key("sequences_max").Number(options.sequences_max);
  out.Key("prefix_cache").Bool(options.prefix_cache);
  out.Key("tensor_parallel").Number(options.tensor_parallel);
  out.Key("preempt_every_steps").Number(options.preempt_every_steps);
  out.Key("reduction").Text(options.reduction == engine::Reduction::kLaw ? "law" : "control");
  out.EndObject();
}

engine::EngineOptions ReadEngineOptions(JsonFields& in) {
  engine::EngineOptions options;
  options.threads = static_cast<uint32_t>(in.Unsigned("threads", limits::kThreadsMax));
  if (options.threads == 0) in.Fail(FieldError("threads", "at least 1"));
  const auto isa = kernels::ParseIsa(in.Text("isa"));
  if (isa.ok()) options.isa = *isa;
  else in.Fail(isa.error());
  const std::string cache_type = in.Text("kv_cache_dtype");
  if (cache_type != "f16" && cache_type != "f32") in.Fail(FieldError("kv_cache_dtype", "f16 or f32"));
  options.cache_type = cache_type == "f16" ? kernels::CacheType::kF16 : kernels::CacheType::kF32;
  options.page_tokens = in.Unsigned32("page_tokens");
  options.cache_bytes = in.Unsigned("cache_bytes", UINT64_MAX);
  options.context_max = in.Unsigned32("context_max");
  options.step_rows_max = in.Unsigned32("step_rows_max");
  options.prefill_chunk = in.Unsigned32("prefill_chunk");
  options.prefill_beside_decodes = in.Unsigned32("prefill_beside_decodes");
  options.sequences_max = in.Unsigned32("sequences_max");
  options.prefix_cache = in.Bool("prefix_cache");
  options.tensor_parallel = in.Unsigned32("tensor_parallel");
  options.preempt_every_steps = in.Unsigned32("preempt_every_steps");
  const std::string reduction = in.Text("reduction");
  if (reduction != "law" && reduction != "control") in.Fail(FieldError("reduction", "law or control"));
  options.reduction = reduction == "control" ? engine::Reduction::kControl : engine::Reduction::kLaw;
  return options;
}

}  // namespace samebit::verify
