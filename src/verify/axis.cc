#include "verify/axis.h"

#include "base/check.h"

namespace samebit::verify {
namespace {

struct AxisRow {
  Axis axis;
  const char* name;
  const char* title;
};

constexpr AxisRow kAxes[] = {
    {Axis::kConcurrency, "concurrency", "requests in flight"},
    {Axis::kPromptLength, "prompt_length", "prompt length"},
    {Axis::kOutputLength, "output_length", "output length"},
    {Axis::kBatchShape, "batch_shape", "batch shape"},
    {Axis::kNeighbours, "neighbours", "neighbours"},
    {Axis::kPrefillChunk, "prefill_chunk", "prefill chunk"},
    {Axis::kPrefixCache, "prefix_cache", "prefix cache"},
    {Axis::kPreemption, "preemption", "preemption"},
    {Axis::kTensorParallel, "tensor_parallel", "tensor parallel"},
    {Axis::kThreads, "threads", "threads"},
    {Axis::kIsa, "isa", "instruction set"},
    {Axis::kProcess, "process", "process"},
    {Axis::kPageTokens, "page_tokens", "KV page size"},
    {Axis::kOrder, "order", "order of requests"},
    {Axis::kSamples, "n", "samples (n)"},
    {Axis::kStreaming, "streaming", "streaming"},
    {Axis::kRepeat, "repeat", "repeats"},
};

const AxisRow& RowOf(Axis axis) {
  for (const AxisRow& row : kAxes)
    if (row.axis == axis) return row;
  CHECK(false && "an axis without a row");
}

}  // namespace

const std::vector<Axis>& AllAxes() {
  static const std::vector<Axis> axes = [] {
    std::vector<Axis> all;
    for (const AxisRow& row : kAxes) all.push_back(row.axis);
    return all;
  }();
  return axes;
}

const char* AxisName(Axis axis) { return RowOf(axis).name; }
const char* AxisTitle(Axis axis) { return RowOf(axis).title; }

std::optional<Axis> ParseAxis(std::string_view name) {
  for (const AxisRow& row : kAxes)
    if (row.name == name) return row.axis;
  return std::nullopt;
}

}  // namespace samebit::verify
