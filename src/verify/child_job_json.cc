// The job of the child protocol as JSON. Floats travel as the integers of their bits: nothing is lost.
#include <bit>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "verify/child.h"
#include "verify/engine_options_json.h"
#include "verify/json_fields.h"

namespace samebit::verify {
namespace {

namespace json = boost::json;

constexpr const char* kJobSchema = "samebit.replay-job/2";

void WriteRequest(JsonWriter& out, const engine::Request& request) {
  out.BeginObject();
  out.Key("prompt"), out.BeginArray();
  for (TokenId id : request.prompt) out.Number(id);
  out.EndArray();
  out.Key("temperature_bits"), out.Number(std::bit_cast<uint32_t>(request.sampling.temperature));
  out.Key("top_k"), out.Number(request.sampling.top_k);
  out.Key("top_p_bits"), out.Number(std::bit_cast<uint32_t>(request.sampling.top_p));
  out.Key("min_p_bits"), out.Number(std::bit_cast<uint32_t>(request.sampling.min_p));
  out.Key("seed"), out.Text(std::to_string(request.sampling.seed));
  out.Key("samples"), out.Number(request.samples);
  out.Key("first_sample_index"), out.Number(request.first_sample_index);
  out.Key("tokens_max"), out.Number(request.tokens_max);
  out.Key("top_logprobs"), out.Number(request.top_logprobs);
  out.Key("logits_digests"), out.Bool(request.logits_digests);
  out.EndObject();
}

engine::Request ReadRequest(JsonFields& in) {
  engine::Request request;
  for (uint32_t id : in.Numbers("prompt")) {
    if (id > INT32_MAX) in.Fail(FieldError("prompt", "token ids"));
    request.prompt.push_back(static_cast<TokenId>(id));
  }
  request.sampling.temperature = in.Bits("temperature_bits");
  request.sampling.top_k = in.Unsigned32("top_k");
  request.sampling.top_p = in.Bits("top_p_bits");
  request.sampling.min_p = in.Bits("min_p_bits");
  request.sampling.seed = in.TextNumber("seed");
  request.samples = static_cast<uint32_t>(in.Unsigned("samples", limits::kSamplesMax));
  request.first_sample_index = in.Unsigned32("first_sample_index");
  request.tokens_max = in.Unsigned32("tokens_max");
  request.top_logprobs = static_cast<uint32_t>(in.Unsigned("top_logprobs", limits::kTopLogprobsMax));
  request.logits_digests = in.Bool("logits_digests");
  return request;
}

}  // namespace

// Frozen, version 2.
std::string ChildJobJson(const ChildJob& job) {
  JsonWriter out(JsonWriter::Layout::kCompact);
  out.BeginObject();
  out.Key("schema"), out.Text(kJobSchema);
  out.Key("model_path"), out.Text(job.model_path);
  out.Key("concurrency"), out.Number(job.concurrency);
  out.Key("options"), WriteEngineOptions(out, job.options);
  out.Key("requests"), out.BeginArray();
  for (const engine::Request& request : job.requests) WriteRequest(out, request);
  out.EndArray();
  out.EndObject();
  return out.Finish();
}

Result<ChildJob> ParseChildJob(std::string_view text) {
  ASSIGN_OR_RETURN(const json::value value, ReadJson(text, "the job", {.skipped_keys = {}, .values_max = limits::kChildValuesMax}));
  JsonFields in(value);
  ChildJob job;
  if (in.Text("schema") != kJobSchema) in.Fail(FieldError("schema", kJobSchema));
  job.model_path = in.Text("model_path");
  job.concurrency = in.Unsigned32("concurrency");
  if (job.concurrency == 0) in.Fail(FieldError("concurrency", "at least 1"));
  JsonFields options(in.Value("options"));
  job.options = ReadEngineOptions(options);
  const json::array& requests = in.Array("requests");
  if (in.error()) return *in.error();
  if (options.error()) return *options.error();
  for (const json::value& request : requests) {
    JsonFields fields(request);
    job.requests.push_back(ReadRequest(fields));
    if (fields.error()) return *fields.error();
  }
  return job;
}

}  // namespace samebit::verify
