// The step that every command with a model begins with: open it, make its tokenizer and chat template, prove the
// kernels, pack the weights.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "engine/weights.h"
#include "kernels/isa.h"
#include "model/model.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace samebit::cli {

struct LoadTimings {
  double open_seconds = 0;  // file, tokenizer and chat template
  double self_test_seconds = 0;
  double pack_seconds = 0;
  double total_seconds() const { return open_seconds + self_test_seconds + pack_seconds; }
};

struct LoadedModel {
  std::unique_ptr<model::Model> model;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<text::ChatTemplate> chat_template;  // null where the model has none
  std::shared_ptr<const engine::Weights> weights;
  LoadTimings timings;
};

// Progress is drawn on a terminal. Failures: those of model::Open, MakeTokenizer, MakeChatTemplate and PackWeights;
// kSelfTestFailed.
Result<LoadedModel> LoadModel(const Outside& outside, const std::string& path, kernels::Isa isa, uint32_t threads);

// One line about the timings, for --verbose.
std::string TimingsLine(const LoadedModel& loaded);

}  // namespace samebit::cli
