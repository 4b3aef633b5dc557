#include "cli/load_model.h"

#include <thread>

#include "cli/number_text.h"
#include "kernels/self_test.h"
#include "world/log.h"
#include "world/machine.h"

namespace samebit::cli {
namespace {

// Seconds since the last call.
class Lap {
 public:
  explicit Lap(const world::Clock& clock) : clock_(clock), start_ns_(clock.monotonic_ns()) {}
  double Take() {
    const uint64_t now_ns = clock_.monotonic_ns();
    const double seconds = static_cast<double>(now_ns - start_ns_) * 1e-9;
    start_ns_ = now_ns;
    return seconds;
  }

 private:
  const world::Clock& clock_;
  uint64_t start_ns_;
};

// What belongs to text, made by a thread of its own: with a large vocabulary it takes longer than all the rest.
class TextLoader {
 public:
  TextLoader(const TokenizerSpec& spec, const world::Clock& clock) : thread_([this, &spec, &clock] {
    Lap lap(clock);
    status_ = Load(spec);
    seconds_ = lap.Take();
  }) {}

  // Waits for it. Once.
  Status Finish(LoadedModel& loaded) {
    thread_.join();
    RETURN_IF_ERROR(status_);
    loaded.tokenizer = std::move(tokenizer_);
    loaded.chat_template = std::move(chat_template_);
    loaded.timings.text_seconds = seconds_;
    return {};
  }

 private:
  Status Load(const TokenizerSpec& spec) {
    ASSIGN_OR_RETURN(tokenizer_, text::MakeTokenizer(spec));
    if (spec.chat_template) {
      ASSIGN_OR_RETURN(chat_template_, text::MakeChatTemplate(*spec.chat_template));
    }
    return {};
  }

  Status status_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  std::unique_ptr<text::ChatTemplate> chat_template_;
  double seconds_ = 0;
  std::jthread thread_;  // the last member: it begins when the others are there
};

}  // namespace

Result<LoadedModel> LoadModel(const Outside& outside, const LoadOptions& options) {
  LoadedModel loaded;
  Lap all(outside.clock), lap(outside.clock);
  ASSIGN_OR_RETURN(loaded.model, model::Open(options.path));
  loaded.timings.open_seconds = lap.Take();
  TextLoader text(loaded.model->tokenizer(), outside.clock);
  const Status self_test = kernels::SelfTest(kernels::Kernels(options.isa));
  loaded.timings.self_test_seconds = lap.Take();
  auto cache = FindPackedCache(*loaded.model, options.packed_cache);
  loaded.timings.digest_seconds = lap.Take();
  RETURN_IF_ERROR(text.Finish(loaded));
  RETURN_IF_ERROR(self_test);
  if (!cache.ok()) return cache.error();
  // The weights come after the tokenizer, whose making needs 70 MB more than it keeps where a vocabulary is large: side
  // by side both were the peak of the process, and on two cores the whole was not ready sooner.
  world::ReturnFreedMemory();

  lap.Take();
  ProgressBar bar(outside.terminal, "packing weights");
  world::StderrLog log;
  const PackOptions pack = {.threads = options.threads,
                            .progress = [&](uint64_t done, uint64_t total) { bar.Show(done, total); }};
  ASSIGN_OR_RETURN(const CachedWeights cached, LoadWeights(*loaded.model, *cache, pack, log));
  loaded.timings.pack_seconds = lap.Take();
  loaded.weights = cached.weights;
  loaded.weights_source = cached.source;
  loaded.timings.total_seconds = all.Take();
  return loaded;
}

std::string TimingsLine(const LoadedModel& loaded) {
  const LoadTimings& timings = loaded.timings;
  const world::OwnMemory memory = world::ResidentMemory();
  const bool cached = loaded.weights_source != WeightsSource::kPacked;
  const bool mapped = loaded.weights_source == WeightsSource::kMapped;
  return "model ready in " + Fixed(timings.total_seconds, 3) + " s (open " + Fixed(timings.open_seconds, 3) +
         ", tokenizer " + Fixed(timings.text_seconds, 3) + " beside self-test " + Fixed(timings.self_test_seconds, 3) +
         (cached ? " and digest " + Fixed(timings.digest_seconds, 3) : "") + (mapped ? ", map " : ", pack ") +
         Fixed(timings.pack_seconds, 3) + "), " + Bytes(loaded.weights->bytes()) + " of weights, " +
         Bytes(memory.resident_bytes) + " resident, at most " + Bytes(memory.resident_peak_bytes);
}

}  // namespace samebit::cli
