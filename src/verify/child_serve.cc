// The child's side: load what the job names, answer, print nothing.
#include "engine/engine.h"
#include "engine/weights.h"
#include "model/model.h"
#include "model/model_digest.h"
#include "verify/child.h"
#include "verify/drive.h"

namespace samebit::verify {

Result<std::shared_ptr<const engine::Weights>> PackAlways(const model::Model& model, uint32_t threads) {
  return engine::PackWeights(model, threads);
}

Result<std::string> ServeChildJob(std::string_view job_json, uint64_t process_id, const WeightsLoader& load_weights) {
  ASSIGN_OR_RETURN(ChildJob job, ParseChildJob(job_json));
  ASSIGN_OR_RETURN(const std::unique_ptr<model::Model> opened, model::Open(job.model_path));
  ASSIGN_OR_RETURN(const std::vector<model::FileDigest> files, opened->Digests());
  ASSIGN_OR_RETURN(const std::shared_ptr<const engine::Weights> weights,
                   load_weights(*opened, job.options.threads));
  ASSIGN_OR_RETURN(const std::unique_ptr<engine::Engine> engine, engine::Engine::Make(weights, nullptr, job.options));

  Load load;
  load.requests = std::move(job.requests);
  load.in_flight = job.concurrency;
  ASSIGN_OR_RETURN(Driven driven, DriveEngine(*engine, std::move(load), nullptr));

  ChildAnswer answer;
  answer.process_id = process_id;
  answer.model_sha256 = model::ModelSha256(files);
  for (RequestRun& request : driven.requests) {
    if (!request.completion) return Error{ErrorCode::kInternal, "a request failed: " + request.error};
    answer.completions.push_back(std::move(*request.completion));
  }
  return ChildAnswerJson(answer);
}

}  // namespace samebit::verify
