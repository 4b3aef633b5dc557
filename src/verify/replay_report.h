// What a replay found: plain data, made by RunReplay, read by the writers (report_*.h) and by cli.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "engine/options.h"
#include "model/model.h"
#include "verify/axis.h"

namespace samebit::verify {

enum class Verdict {
  kExact,        // every sample has the bits of the base
  kDivergent,    // at least one has not
  kNotMeasured,  // the cell did not do what its name says, so it proves nothing
};
const char* VerdictName(Verdict verdict);  // "exact", "divergent", "not_measured"

// The four kinds of drift, and the honest fifth answer.
enum class Drift { kSampling, kRunToRun, kBatchAndSchedule, kEnvironmentAndVersion, kCannotTell };
const char* DriftName(
    Drift drift);  // "sampling", "run_to_run", "batch_and_schedule", "environment_and_version", "cannot_tell"

enum class SamplingKind { kGreedy, kSeeded };
const char* SamplingKindName(SamplingKind kind);  // "greedy", "seeded"

// One answer beside its base.
struct SampleReport {
  std::string prompt_id;
  SamplingKind sampling = SamplingKind::kGreedy;
  uint32_t sample_index = 0;
  uint32_t prompt_tokens = 0;
  uint32_t tokens_asked = 0;
  uint32_t tokens_base = 0;
  uint32_t tokens_found = 0;
  bool tokens_equal = false;    // ids, length and finish reason
  bool logprobs_equal = false;  // bits of every log-probability, of the chosen token and of the top ones
  bool logits_equal = false;    // digest of the logits of every position
  bool exact() const { return tokens_equal && logprobs_equal && logits_equal; }
  std::optional<uint32_t> first_token_divergence;  // position in the answer, from 0
  std::optional<uint32_t> first_bit_divergence;    // first position whose logits or log-probability bits differ
  // Around the first divergence: shared ids among the five best, of five, at the position and at the one before it.
  std::optional<uint32_t> top_shared_at, top_shared_before;
  std::optional<float> margin_base, margin_found;  // logit margin at the first divergence
  std::optional<double> logprob_difference_max;    // over the positions before the tokens part
  std::string error;                               // set where no answer came
};

struct CellReport {
  Axis axis = Axis::kConcurrency;
  std::string value;
  std::string description;           // one sentence: what was done
  std::vector<std::string> differs;  // settings and circumstances in which the cell differs from the base
  engine::EngineOptions options;
  Verdict verdict = Verdict::kNotMeasured;
  std::string evidence;             // what showed that the axis really ran
  std::string not_measured_reason;  // kNotMeasured only
  std::optional<Drift> drift;       // kDivergent only
  std::string drift_reason;         // why this kind, or why it cannot be told
  std::vector<SampleReport> samples;
  double seconds = 0;

  uint32_t exact_count() const;
  uint32_t logprobs_equal_count() const;
  std::optional<uint32_t> first_divergence() const;  // the earliest token divergence, else the earliest of bits
};

// A base answer's figures, for the margin histogram.
struct BaseReport {
  std::string prompt_id;
  std::string category;
  SamplingKind sampling = SamplingKind::kGreedy;
  uint32_t sample_index = 0;
  uint32_t prompt_tokens = 0;
  uint32_t prefill_chunk = 1;  // 1 but for prompts that the quick plan cannot afford token by token
  std::vector<TokenId> token_ids;
  std::vector<float> margins;  // per token
  std::string answer_sha256;   // over token ids and log-probability bits
};

// Over HTTP: who answered, and how much of the answers could be compared.
struct RemoteReport {
  std::string url, server, endpoint;
  std::string fingerprint;      // system_fingerprint; "": none
  std::string identity;         // of tokens: "token_ids", "token_bytes", "text"
  std::string identity_source;  // where it comes from, in words
  bool logprobs_compared = false;  // bit for bit, of the chosen token and of five candidates
  std::vector<std::string> notes;  // what the server refused, and what looks like a cache
};

struct ReplayReport {
  std::string plan;  // "quick", "full"
  bool control = false;
  std::string model_path;
  std::string model_name, model_family;
  std::vector<model::FileDigest> model_files;
  std::string prompt_set;         // "built-in" or the file's path
  std::string prompt_set_sha256;  // over ids and prompt token ids
  uint32_t prompt_count = 0;
  uint64_t seed = 0;
  std::string machine;  // CPU model
  uint32_t cores = 0;
  std::string version;      // of samebit, as cli gave it
  std::string started_utc;  // ISO 8601, from the caller's clock
  double seconds = 0;
  engine::EngineOptions base_options;
  std::optional<RemoteReport> remote;  // then model_files, machine, cores and the engine options mean nothing
  std::vector<BaseReport> bases;
  std::vector<CellReport> cells;

  uint32_t count(Verdict verdict) const;
  uint64_t sample_count() const;
  bool holds() const;                // at least one cell, all exact
  std::vector<Axis> axes_with(Verdict verdict) const;  // axes that have such a cell, in report order
  std::vector<Axis> caught() const { return axes_with(Verdict::kDivergent); }
};

// CONTRACT's exit codes. Normal: 0 all exact, 1 a cell diverged, 3 something was not measured (and nothing diverged).
// Control: 1 caught, as it must be; 3 nothing was caught, so the matrix proved itself unable to fail.
int ExitCode(const ReplayReport& report);
// One or two sentences for the end of a run: the verdict, and the axes where something was found.
std::string VerdictSentence(const ReplayReport& report);

std::string UtcText(int64_t unix_ns);  // ISO 8601, to the second

}  // namespace samebit::verify
