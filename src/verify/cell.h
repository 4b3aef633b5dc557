// One cell of the matrix as data: what is asked of which engine, in what company. Making cells: plan.h; running:
// runner.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/options.h"
#include "verify/axis.h"
#include "verify/replay_report.h"

namespace samebit::verify {

// One request that is compared with the base.
struct CellRequest {
  uint32_t prompt = 0;  // index into the prepared prompts
  SamplingKind sampling = SamplingKind::kGreedy;
  uint32_t tokens_max = 16;
  uint32_t samples = 1;  // n; sample i is compared with the base answer of sample i alone
};

// Requests that fill the batch and are not compared.
enum class Company { kGreedy, kHot };

// What the engine did before the compared requests came.
enum class Before { kNothing, kSameRequests, kOtherRequests };

enum class Where {
  kHere,        // this process
  kRestarted,   // a freshly started process, the same model file and settings
  kRedeployed,  // a freshly started process, another copy of the model, other settings
};

// Bounds on the prompts of a cell, for its evidence.
struct TokenBounds {
  uint32_t min = 0;
  uint32_t max = UINT32_MAX;
};

struct Cell {
  Axis axis = Axis::kConcurrency;
  std::string value;
  std::string description;
  engine::EngineOptions options;
  std::vector<CellRequest> requests;  // in the order in which they are submitted
  uint32_t in_flight = 1;             // compared requests and company together
  uint32_t company_min = 0;           // of these, always at least so many company
  Company company = Company::kGreedy;
  Before before = Before::kNothing;
  bool drop_prefixes = false;  // the prefix cache is emptied before each compared request
  bool reordered = false;
  bool streamed = false;  // over HTTP
  Where where = Where::kHere;
  TokenBounds prompt_tokens;  // what the axis prompt_length asks for
  std::string impossible;     // why this cell cannot be measured with this model; empty: it can
};

// Names of the axes in which a cell differs from the base, in the order of AllAxes().
std::vector<std::string> DifferencesFromBase(const Cell& cell, const engine::EngineOptions& base);

}  // namespace samebit::verify
