// What is said about repeated measurements on a machine that others use: ranks, never means.
#pragma once

#include <vector>

namespace samebit::cli {

double Best(const std::vector<double>& seconds);  // the least; precondition for both: not empty
double Median(std::vector<double> seconds);

// The median of pairwise ratios, and where it lies with at least 95 % confidence (the sign test: no assumption about
// how the noise is distributed). Fewer than six pairs cannot say that: then low and high are the least and the greatest
// ratio.
struct RatioRange {
  double median, low, high;
};

// Of dividend[i] / divisor[i]. Preconditions: the same number of both, at least one, all divisors above 0.
RatioRange MedianRatio(const std::vector<double>& dividend, const std::vector<double>& divisor);

}  // namespace samebit::cli
