#include "verify/axis.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace samebit::verify {
namespace {

TEST(Axis, every_axis_of_the_issue_is_there_once) {
  std::set<std::string> names;
  for (Axis axis : AllAxes()) names.insert(AxisName(axis));
  const std::set<std::string> expected = {
      "concurrency", "prompt_length", "output_length", "batch_shape", "neighbours", "prefill_chunk", "prefix_cache",
      "preemption", "tensor_parallel", "threads", "isa", "process", "page_tokens", "order", "n", "streaming", "repeat"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(AllAxes().size(), expected.size());
}

TEST(Axis, names_are_read_back) {
  for (Axis axis : AllAxes()) EXPECT_EQ(ParseAxis(AxisName(axis)), axis);
  EXPECT_EQ(ParseAxis("speed"), std::nullopt);
  EXPECT_EQ(ParseAxis(""), std::nullopt);
}

}  // namespace
}  // namespace samebit::verify
