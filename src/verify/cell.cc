#include "verify/cell.h"

#include <algorithm>

namespace samebit::verify {
namespace {

bool DiffersIn(Axis axis, const Cell& cell, const engine::EngineOptions& base) {
  switch (axis) {
    case Axis::kConcurrency: return cell.in_flight > 1;
    case Axis::kPrefillChunk: return cell.options.prefill_chunk != base.prefill_chunk;
    case Axis::kPrefixCache: return cell.options.prefix_cache != base.prefix_cache;
    case Axis::kPreemption: return cell.options.preempt_every_steps != base.preempt_every_steps;
    case Axis::kTensorParallel: return cell.options.tensor_parallel != base.tensor_parallel;
    case Axis::kThreads: return cell.options.threads != base.threads;
    case Axis::kIsa: return cell.options.isa != base.isa;
    case Axis::kPageTokens: return cell.options.page_tokens != base.page_tokens;
    case Axis::kNeighbours: return cell.in_flight > 1 && cell.company == Company::kHot;
    case Axis::kProcess: return cell.where != Where::kHere || cell.before == Before::kOtherRequests;
    case Axis::kOrder: return cell.reordered;
    case Axis::kStreaming: return cell.streamed;
    case Axis::kRepeat: return cell.axis == Axis::kRepeat;
    case Axis::kSamples:
      return std::any_of(cell.requests.begin(), cell.requests.end(),
                         [](const CellRequest& request) { return request.samples > 1; });
    // Their values are made of prompts and requests, not of a setting; the base has the same prompts.
    case Axis::kPromptLength: case Axis::kOutputLength: case Axis::kBatchShape: return false;
  }
  return false;
}

}  // namespace

std::vector<std::string> DifferencesFromBase(const Cell& cell, const engine::EngineOptions& base) {
  std::vector<std::string> names;
  for (Axis axis : AllAxes())
    if (DiffersIn(axis, cell, base)) names.push_back(AxisName(axis));
  return names;
}

}  // namespace samebit::verify
