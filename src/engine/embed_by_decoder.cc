// Embedding by a decoder: texts are prefilled in chunks through a KV cache of their own, and the rows behind the last norm
// are pooled as they come.
#include <algorithm>
#include <deque>

#include "engine/embed_kinds.h"
#include "engine/forward/decoder.h"

namespace samebit::engine {
namespace {

// Rows of one step: a generation beside it waits for so many, a quarter of an ordinary prefill.
constexpr uint32_t kStepRowsMax = 64;

KvCacheShape CacheShape(const model::ModelConfig& config, const EngineOptions& options, uint64_t budget_bytes) {
  return {config.layers, config.kv_heads, {options.cache_type, config.head_size, options.page_tokens}, budget_bytes};
}

EngineOptions WithRows(EngineOptions options) {
  options.step_rows_max = std::min(options.step_rows_max, kStepRowsMax);
  return options;
}

class EmbedderOfDecoder final : public Embedder {
 public:
  EmbedderOfDecoder(std::shared_ptr<const Weights> weights, const EngineOptions& options, uint32_t tokens_max,
                    uint64_t cache_bytes)
      : Embedder(std::move(weights), tokens_max),
        options_(WithRows(options)),
        cache_(CacheShape(weights_->config, options_, cache_bytes), false),
        decoder_(*weights_, options_, cache_),
        team_(options_.threads, options_.current_cpu) {}

  void Cancel(EmbedId id) override {
    for (Text& text : texts_)
      if (text.id == id) Release(text);
    std::erase_if(texts_, [id](const Text& text) { return text.id == id; });
    finished_.Drop(id);
  }

  bool Step() override {
    if (texts_.empty()) return false;
    Batch batch;
    std::vector<Text*> of_group;
    for (Text& text : texts_) {
      const uint32_t room = options_.step_rows_max - batch.rows();
      if (room == 0 || !TakePages(text)) break;
      const auto count = std::min(room, static_cast<uint32_t>(text.request.tokens.size()) - text.done);
      batch.groups.push_back({&text.pages, batch.rows(), count, text.done});
      of_group.push_back(&text);
      for (uint32_t i = 0; i < count; ++i) {
        batch.tokens.push_back(text.request.tokens[text.done + i]);
        batch.positions.push_back(text.done + i);
      }
    }
    decoder_.Forward(team_, batch, [](uint32_t, const float*) {});
    for (size_t g = 0; g < of_group.size(); ++g) {
      Text& text = *of_group[g];
      const RowGroup& group = batch.groups[g];
      for (uint32_t row = group.first_row; row < group.first_row + group.row_count; ++row) {
        text.failed |= decoder_.row_failed(row);
        text.vector.Add(decoder_.final_row(row));
      }
      text.done += group.row_count;
      if (text.done < text.request.tokens.size()) continue;
      finished_.Put(text.id, text.vector.Finish(text.request.normalize, text.failed));
      Release(text);
    }
    std::erase_if(texts_, [](const Text& text) { return text.done == text.request.tokens.size(); });
    return true;
  }

  std::optional<Result<std::vector<float>>> Take(EmbedId id) override { return finished_.Take(id); }

 private:
  struct Text {
    EmbedId id;
    EmbedRequest request;
    VectorOfRows vector;
    std::vector<PageId> pages;
    uint32_t done = 0;
    bool failed = false;
  };

  void Queue(EmbedId id, EmbedRequest request) override {
    VectorOfRows vector(request.pooling, width());
    texts_.push_back({id, std::move(request), std::move(vector), {}});
  }

  // The pages of the whole text, once. False: others have to end first; the first text of all always gets its own.
  bool TakePages(Text& text) {
    const size_t wanted = (text.request.tokens.size() + options_.page_tokens - 1) / options_.page_tokens;
    if (!text.pages.empty()) return true;
    if (wanted > cache_.free_pages()) return false;
    while (text.pages.size() < wanted) text.pages.push_back(*cache_.Allocate());
    return true;
  }

  void Release(Text& text) {
    for (const PageId page : text.pages) cache_.Release(page);
    text.pages.clear();
  }

  const EngineOptions options_;
  KvCache cache_;
  Decoder decoder_;
  kernels::Team team_;
  std::deque<Text> texts_;
  FinishedVectors finished_;
};

}  // namespace

Result<std::unique_ptr<Embedder>> MakeEmbedderOfDecoder(std::shared_ptr<const Weights> weights,
                                                        const EngineOptions& options) {
  const model::ModelConfig& config = weights->config;
  const uint32_t longest =
      options.context_max == 0 ? config.context : std::min(config.context, options.context_max);
  const kernels::HeadPage head{options.cache_type, config.head_size, options.page_tokens};
  const uint64_t page_bytes = uint64_t{head.bytes()} * config.kv_heads * config.layers;
  // No more than one text of full length needs, and no more than the budget.
  const uint64_t pages =
      std::min((uint64_t{longest} + options.page_tokens - 1) / options.page_tokens, options.cache_bytes / page_bytes);
  const auto tokens_max = static_cast<uint32_t>(std::min<uint64_t>(longest, pages * options.page_tokens));
  return std::unique_ptr<Embedder>(
      std::make_unique<EmbedderOfDecoder>(std::move(weights), options, tokens_max, pages * page_bytes));
}

}  // namespace samebit::engine
