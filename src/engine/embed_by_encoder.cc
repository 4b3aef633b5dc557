// Embedding by an encoder: each step takes the texts that came first, whole, as many as one pass holds.
#include <algorithm>
#include <deque>

#include "arith/sentence_vector.h"
#include "engine/embed_kinds.h"
#include "engine/forward/encoder.h"

namespace samebit::engine {

VectorOfRows::VectorOfRows(Pooling pooling, uint32_t width) : pooling_(pooling), vector_(width) {
  if (pooling_ == Pooling::kMean) sums_.resize(width);
}

void VectorOfRows::Add(const float* row) {
  const auto width = static_cast<uint32_t>(vector_.size());
  if (pooling_ == Pooling::kMean)
    arith::AddToMean(row, width, sums_.data());
  else if (pooling_ == Pooling::kLast || count_ == 0)
    std::copy_n(row, width, vector_.begin());
  ++count_;
}

Result<std::vector<float>> VectorOfRows::Finish(bool normalize, bool failed) {
  const auto width = static_cast<uint32_t>(vector_.size());
  if (pooling_ == Pooling::kMean) arith::FinishMean(sums_.data(), count_, width, vector_.data());
  if (normalize && !arith::NormalizeLength(vector_.data(), width, vector_.data())) failed = true;
  if (failed) return Error{ErrorCode::kNumeric, "the model's arithmetic left the finite numbers for this text"};
  return std::move(vector_);
}

std::optional<Result<std::vector<float>>> FinishedVectors::Take(EmbedId id) {
  const auto found = vectors_.find(id);
  if (found == vectors_.end()) return std::nullopt;
  std::optional<Result<std::vector<float>>> vector(std::move(found->second));
  vectors_.erase(found);
  return vector;
}

namespace {

class EmbedderOfEncoder final : public Embedder {
 public:
  EmbedderOfEncoder(std::shared_ptr<const Weights> weights, const EngineOptions& options, uint32_t tokens_max)
      : Embedder(std::move(weights), tokens_max),
        rows_max_(std::max(tokens_max, options.step_rows_max)),
        encoder_(*weights_, options, rows_max_),
        team_(options.threads, options.current_cpu) {}

  void Cancel(EmbedId id) override {
    std::erase_if(waiting_, [id](const Waiting& one) { return one.id == id; });
    finished_.Drop(id);
  }

  bool Step() override {
    if (waiting_.empty()) return false;
    std::vector<std::span<const TokenId>> texts;
    size_t rows = 0;
    while (texts.size() < std::min<size_t>(waiting_.size(), kPassTextsMax)) {
      const std::vector<TokenId>& tokens = waiting_[texts.size()].request.tokens;
      if (rows + tokens.size() > rows_max_) break;
      rows += tokens.size();
      texts.push_back(tokens);
    }
    encoder_.Forward(team_, texts);
    uint32_t row = 0;
    for (const std::span<const TokenId> text : texts) {
      const Waiting& one = waiting_.front();
      VectorOfRows vector(one.request.pooling, width());
      bool failed = false;
      for (size_t i = 0; i < text.size(); ++i, ++row) {
        failed |= encoder_.row_failed(row);
        vector.Add(encoder_.row(row));
      }
      finished_.Put(one.id, vector.Finish(one.request.normalize, failed));
      waiting_.pop_front();
    }
    return true;
  }

  std::optional<Result<std::vector<float>>> Take(EmbedId id) override { return finished_.Take(id); }

 private:
  struct Waiting {
    EmbedId id;
    EmbedRequest request;
  };
  void Queue(EmbedId id, EmbedRequest request) override { waiting_.push_back({id, std::move(request)}); }

  const uint32_t rows_max_;
  Encoder encoder_;
  kernels::Team team_;
  std::deque<Waiting> waiting_;
  FinishedVectors finished_;
};

}  // namespace

Result<std::unique_ptr<Embedder>> MakeEmbedderOfEncoder(std::shared_ptr<const Weights> weights,
                                                        const EngineOptions& options) {
  const model::ModelConfig& config = weights->config;
  const uint32_t longest = std::min(config.context, config.positions);
  const uint32_t tokens_max = options.context_max == 0 ? longest : std::min(longest, options.context_max);
  return std::unique_ptr<Embedder>(std::make_unique<EmbedderOfEncoder>(std::move(weights), options, tokens_max));
}

}  // namespace samebit::engine
