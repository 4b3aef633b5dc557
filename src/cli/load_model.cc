#include "cli/load_model.h"

#include "cli/number_text.h"
#include "kernels/self_test.h"

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

}  // namespace

Result<LoadedModel> LoadModel(const Outside& outside, const std::string& path, kernels::Isa isa, uint32_t threads) {
  LoadedModel loaded;
  Lap lap(outside.clock);
  ASSIGN_OR_RETURN(loaded.model, model::Open(path));
  ASSIGN_OR_RETURN(loaded.tokenizer, text::MakeTokenizer(loaded.model->tokenizer()));
  if (const auto& source = loaded.model->tokenizer().chat_template) {
    ASSIGN_OR_RETURN(loaded.chat_template, text::MakeChatTemplate(*source));
  }
  loaded.timings.open_seconds = lap.Take();

  RETURN_IF_ERROR(kernels::SelfTest(kernels::Kernels(isa)));
  loaded.timings.self_test_seconds = lap.Take();

  ProgressBar bar(outside.terminal, "packing weights");
  ASSIGN_OR_RETURN(loaded.weights, engine::PackWeights(*loaded.model, threads,
                                                       [&](uint64_t done, uint64_t total) { bar.Show(done, total); }));
  loaded.timings.pack_seconds = lap.Take();
  return loaded;
}

std::string TimingsLine(const LoadedModel& loaded) {
  const LoadTimings& timings = loaded.timings;
  return "model ready in " + Fixed(timings.total_seconds(), 3) + " s (open " + Fixed(timings.open_seconds, 3) +
         ", self-test " + Fixed(timings.self_test_seconds, 3) + ", pack " + Fixed(timings.pack_seconds, 3) + "), " +
         Bytes(loaded.weights->bytes()) + " of weights";
}

}  // namespace samebit::cli
