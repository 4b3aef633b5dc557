// The step that every command with a model begins with: open it, make its tokenizer and chat template, prove the
// kernels, pack the weights.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/packed_cache.h"
#include "engine/weights.h"
#include "kernels/isa.h"
#include "model/model.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace samebit::cli {

struct LoadOptions {
  std::string path;
  kernels::Isa isa = kernels::Isa::kScalar;
  uint32_t threads = 1;
  std::optional<std::string> packed_cache;  // a folder
};

struct LoadTimings {
  double open_seconds = 0;       // the file
  double text_seconds = 0;       // tokenizer and chat template, and beside them:
  double self_test_seconds = 0;
  double digest_seconds = 0;     // of the model's files, where there is a packed cache
  double pack_seconds = 0;       // or mapping
  double total_seconds = 0;
};

struct LoadedModel {
  std::unique_ptr<model::Model> model;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<text::ChatTemplate> chat_template;  // null where the model has none
  std::shared_ptr<const engine::Weights> weights;
  WeightsSource weights_source = WeightsSource::kPacked;
  LoadTimings timings;
};

// Progress is drawn on a terminal. Failures, the first of this order: those of model::Open, MakeTokenizer and
// MakeChatTemplate; kSelfTestFailed; those of FindPackedCache and LoadWeights.
Result<LoadedModel> LoadModel(const Outside& outside, const LoadOptions& options);

// One line about the timings and the memory of this process, for --verbose.
std::string TimingsLine(const LoadedModel& loaded);

}  // namespace samebit::cli
