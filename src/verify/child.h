// The child protocol: how a matrix asks a freshly started process, which shares no memory with it, for answers.
//
// The parent writes one JSON job to the child's standard input, the child writes one JSON answer to its standard
// output. cli spawns; both JSON texts are made and read here. Schemas samebit.replay-job/2, samebit.replay-answer/1.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/options.h"
#include "engine/request.h"
#include "engine/weights.h"
#include "model/model.h"

namespace samebit::verify {

struct ChildJob {
  std::string model_path;
  engine::EngineOptions options;
  uint32_t concurrency = 1;               // requests in flight
  std::vector<engine::Request> requests;  // without stop strings, bias or scoring
};

struct ChildAnswer {
  uint64_t process_id = 0;                // the child's own
  std::string model_sha256;               // of the file it loaded (of its list of files for a folder)
  std::vector<engine::Completion> completions;  // by request; texts are empty
};

std::string ChildJobJson(const ChildJob& job);
Result<ChildJob> ParseChildJob(std::string_view json);           // kMalformed says where
std::string ChildAnswerJson(const ChildAnswer& answer);
Result<ChildAnswer> ParseChildAnswer(std::string_view json);     // kMalformed

// Makes the weights of an open model: packed by so many threads, or from where they are kept.
using WeightsLoader =
    std::function<Result<std::shared_ptr<const engine::Weights>>(const model::Model& model, uint32_t threads)>;
// engine::PackWeights.
Result<std::shared_ptr<const engine::Weights>> PackAlways(const model::Model& model, uint32_t threads);

// What the child does: parses the job, loads the model, answers. `process_id` is the caller's own (world::ProcessId).
// Returns the JSON to print. Failures: those of ParseChildJob, model::Open, the loader and the engine.
Result<std::string> ServeChildJob(std::string_view job_json, uint64_t process_id, const WeightsLoader& load_weights);

// Starts this same program again, gives it the job, returns what it printed. Failure: kIo with the child's exit status.
using RestartRunner = std::function<Result<std::string>(const std::string& job_json)>;

}  // namespace samebit::verify
