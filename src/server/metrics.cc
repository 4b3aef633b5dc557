#include "server/metrics.h"

#include <algorithm>

#include "world/machine.h"

namespace samebit::server {
namespace {

void Head(std::string& out, const char* name, const char* type, const char* help) {
  out += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

void One(std::string& out, const char* name, const char* type, const char* help, uint64_t value) {
  Head(out, name, type, help);
  out += std::string(name) + " " + std::to_string(value) + "\n";
}

}  // namespace

void Metrics::Count(const RequestCounts& counts) {
  const std::lock_guard lock(mutex_);
  ++requests_[{counts.route, counts.status}];
  if (!counts.refusal.empty()) ++refusals_[counts.refusal];
  if (!counts.error_code.empty()) ++errors_[counts.error_code];
  prompt_tokens_ += counts.prompt_tokens;
  completion_tokens_ += counts.completion_tokens;
  for (size_t i = 0; i < finished_.size(); ++i) finished_[i] += counts.finished[i];
  if (counts.finished != FinishCounts{}) {
    seconds_.Add(counts.seconds);
    prompt_sizes_.Add(static_cast<double>(counts.prompt_tokens));
    answer_sizes_.Add(static_cast<double>(counts.completion_tokens));
  }
  if (counts.first_token_seconds >= 0) {
    first_token_.Add(counts.first_token_seconds);
    if (counts.completion_tokens > 1)
      per_output_token_.Add((counts.seconds - counts.first_token_seconds) /
                            static_cast<double>(counts.completion_tokens - 1));
  }
  inter_token_.Add(counts.inter_token);
  margins_.Add(counts.margins);
}

std::string Metrics::Text(const EngineLoad& load, size_t connections) const {
  std::string out;
  const uint64_t running = std::min(load.samples_in_flight, load.sequences_max);
  One(out, "samebit:num_requests_running", "gauge", "Answers that the engine computes now.", running);
  One(out, "samebit:num_requests_waiting", "gauge", "Answers that wait for their turn.",
      load.samples_in_flight - running);
  One(out, "samebit:http_connections", "gauge", "Open connections.", connections);
  One(out, "samebit:engine_steps_total", "counter", "Forward passes.", load.counters.steps);
  One(out, "samebit:engine_rows_total", "counter", "Tokens computed, prompts included.", load.counters.rows);
  One(out, "samebit:num_preemptions_total", "counter", "Sequences that gave their cache away.",
      load.counters.preemptions);
  One(out, "samebit:prefix_cache_queries_total", "counter", "Prompt tokens looked up in the prefix cache.",
      load.prompt_tokens_asked);
  One(out, "samebit:prefix_cache_hits_total", "counter", "Prompt tokens found in the prefix cache.",
      load.counters.cached_tokens);
  One(out, "samebit:self_test_passed", "gauge", "1: the kernels of this process give the golden bits.", 1);
  One(out, "process_resident_memory_bytes", "gauge", "Memory of this process.", world::ResidentMemory().resident_bytes);

  const std::lock_guard lock(mutex_);
  One(out, "samebit:prompt_tokens_total", "counter", "Prompt tokens of finished requests.", prompt_tokens_);
  One(out, "samebit:generation_tokens_total", "counter", "Answer tokens of finished requests.", completion_tokens_);
  Head(out, "samebit:request_success_total", "counter", "Choices by the reason they ended.");
  for (size_t i = 0; i < finished_.size(); ++i)
    out += std::string("samebit:request_success_total{finished_reason=\"") + kFinishReasons[i] + "\"} " +
           std::to_string(finished_[i]) + "\n";
  Head(out, "samebit:http_requests_total", "counter", "HTTP requests by route and status.");
  for (const auto& [key, count] : requests_)
    out += "samebit:http_requests_total{route=\"" + key.first + "\",status=\"" + std::to_string(key.second) + "\"} " +
           std::to_string(count) + "\n";
  Head(out, "samebit:refusals_total", "counter", "Refusals by code.");
  for (const auto& [code, count] : refusals_)
    out += "samebit:refusals_total{code=\"" + code + "\"} " + std::to_string(count) + "\n";
  Head(out, "samebit:errors_total", "counter", "Errors by the code of their error object, refusals among them.");
  for (const auto& [code, count] : errors_)
    out += "samebit:errors_total{code=\"" + code + "\"} " + std::to_string(count) + "\n";
  const auto write = [&](const char* name, const char* help, const Histogram& histogram) {
    Head(out, name, "histogram", help);
    histogram.Write(out, name);
  };
  write("samebit:e2e_request_latency_seconds", "From the request to the end of its answer.", seconds_);
  write("samebit:time_to_first_token_seconds", "Streams: from the request to the first token.", first_token_);
  write("samebit:inter_token_latency_seconds", "Streams: between two steps that brought tokens.", inter_token_);
  write("samebit:request_time_per_output_token_seconds", "Streams: mean of a request, after its first token.",
        per_output_token_);
  write("samebit:request_prompt_tokens", "Prompt tokens of a finished request.", prompt_sizes_);
  write("samebit:request_generation_tokens", "Answer tokens of a finished request.", answer_sizes_);
  write("samebit:token_margin", "Largest logit minus the second largest, of each answered token.", margins_);
  return out;
}

}  // namespace samebit::server
