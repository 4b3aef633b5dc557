#include "verify/runner.h"

#include <algorithm>
#include <utility>

#include "engine/engine.h"
#include "verify/drive.h"
#include "verify/requests.h"

namespace samebit::verify {
namespace {

// Company takes the shortest prompts, at most this many different ones: it should share passes, not fill the cache.
constexpr size_t kCompanyPromptsMax = 12;
constexpr uint32_t kOtherRequests = 4;  // what an engine serves before the cell "same process"

// Empty where no prompt leaves room for a neighbour's answer.
std::vector<uint32_t> CompanyPrompts(const std::vector<PreparedPrompt>& prompts, uint32_t context_max) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < prompts.size(); ++i)
    if (uint64_t{prompts[i].token_count()} + kCompanyTokensMax <= context_max) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return prompts[a].token_count() < prompts[b].token_count(); });
  order.resize(std::min(order.size(), kCompanyPromptsMax));
  return order;
}

Load LoadOf(const Cell& cell, const std::vector<PreparedPrompt>& prompts, uint64_t seed, uint32_t context_max) {
  Load load;
  for (const CellRequest& request : cell.requests)
    load.requests.push_back(RequestOf(request, prompts[request.prompt], seed));
  load.in_flight = cell.in_flight;
  load.company_min = cell.company_min;
  load.drop_prefixes = cell.drop_prefixes;
  std::vector<uint32_t> order = CompanyPrompts(prompts, context_max);
  if (cell.in_flight > 1 && !order.empty())
    load.company = [company = cell.company, &prompts, order = std::move(order)](uint32_t number) {
      return CompanyRequest(company, prompts[order[number % order.size()]], number);
    };
  return load;
}

// What the engine does before the compared requests come; its answers are thrown away.
Load EarlierLoad(const Cell& cell, const std::vector<PreparedPrompt>& prompts, uint64_t seed, uint32_t context_max) {
  if (cell.before == Before::kSameRequests) {
    Load load = LoadOf(cell, prompts, seed, context_max);
    load.drop_prefixes = false;
    return load;
  }
  Load load;
  const std::vector<uint32_t> order = CompanyPrompts(prompts, context_max);
  for (uint32_t i = 0; i < kOtherRequests && !order.empty(); ++i)
    load.requests.push_back(CompanyRequest(Company::kHot, prompts[order[i % order.size()]], i));
  load.in_flight = kOtherRequests;
  return load;
}

}  // namespace

Result<CellRun> RunCell(const Cell& cell, const RunnerWorld& world) {
  CellRun run;
  run.options = cell.options;
  auto made = engine::Engine::Make(world.weights, nullptr, cell.options);
  if (!made.ok()) {
    run.failure = "the engine refused these settings: " + made.error().message;
    return run;
  }
  engine::Engine& engine = **made;
  const auto after_step = [&] { return !world.after_step || world.after_step(engine.counters().rows); };

  if (cell.before != Before::kNothing) {
    auto earlier = DriveEngine(engine, EarlierLoad(cell, *world.prompts, world.seed, engine.context_max()), after_step);
    if (!earlier.ok() && earlier.error().code == ErrorCode::kCancelled) return earlier.error();
    if (!earlier.ok()) {
      run.failure = earlier.error().message;
      return run;
    }
  }
  run.steps_before = engine.counters().steps;
  auto driven = DriveEngine(engine, LoadOf(cell, *world.prompts, world.seed, engine.context_max()), after_step);
  if (!driven.ok() && driven.error().code == ErrorCode::kCancelled) return driven.error();
  run.options = engine.options();
  run.counters = engine.counters();
  if (!driven.ok()) {
    run.failure = driven.error().message;
    return run;
  }
  run.requests = std::move(driven->requests);
  run.company_started = driven->company_started;
  return run;
}

CellRun RunCellInChild(const Cell& cell, const ChildWorld& world) {
  CellRun run;
  run.options = cell.options;
  run.own_process_id = world.process_id;
  run.own_model_path = run.child_model_path = world.model_path;
  run.own_model_sha256 = world.model_sha256;
  const auto failed = [&](const std::string& why) {
    run.failure = why;
    return run;
  };
  if (!world.restart) return failed("this program was given no way to start itself again");
  if (cell.where == Where::kRedeployed) {
    if (!world.copy_model) return failed("this program was given no way to copy the model");
    auto copy = world.copy_model();
    if (!copy.ok()) return failed("copying the model: " + copy.error().message);
    run.child_model_path = *copy;
  }
  ChildJob job;
  job.model_path = run.child_model_path;
  job.options = cell.options;
  job.concurrency = cell.in_flight;
  for (const CellRequest& request : cell.requests)
    job.requests.push_back(RequestOf(request, (*world.prompts)[request.prompt], world.seed));
  auto text = world.restart(ChildJobJson(job));
  if (!text.ok()) return failed("the other process: " + text.error().message);
  auto answer = ParseChildAnswer(*text);
  if (!answer.ok()) return failed("the other process's answer: " + answer.error().message);
  run.child_process_id = answer->process_id;
  run.child_model_sha256 = answer->model_sha256;
  for (engine::Completion& completion : answer->completions) run.requests.push_back({std::move(completion), ""});
  return run;
}

}  // namespace samebit::verify
