// Counts between bounds, as Prometheus reads them.
#include "server/histogram.h"

#include <gtest/gtest.h>

namespace samebit::server {
namespace {

constexpr double kBounds[] = {0, 0.5, 2};

TEST(Histogram, bounds_are_inclusive_and_buckets_cumulative) {
  Histogram histogram(kBounds);
  for (const double value : {0.0, 0.25, 0.5, 1.0, 7.0}) histogram.Add(value);
  std::string out;
  histogram.Write(out, "name");
  EXPECT_EQ(out,
            "name_bucket{le=\"0\"} 1\nname_bucket{le=\"0.5\"} 3\nname_bucket{le=\"2\"} 4\nname_bucket{le=\"+Inf\"} 5\n"
            "name_sum 8.75\nname_count 5\n");
}

TEST(Histogram, adds_another_one_of_its_bounds) {
  Histogram one(kBounds), other(kBounds);
  one.Add(1);
  other.Add(1);
  other.Add(100);
  one.Add(other);
  EXPECT_EQ(one.count(), 3u);
  std::string out;
  one.Write(out, "n");
  EXPECT_NE(out.find("n_bucket{le=\"2\"} 2\n"), std::string::npos) << out;
  EXPECT_NE(out.find("n_sum 102\n"), std::string::npos) << out;
}

}  // namespace
}  // namespace samebit::server
