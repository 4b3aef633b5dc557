// What is said about repeated measurements on a machine that others use: ranks, never means.
#pragma once

#include <vector>

namespace samebit::cli {

double Best(const std::vector<double>& seconds);  // the least; precondition for both: not empty
double Median(std::vector<double> seconds);

// The median of pairwise ratios, and between which bounds it lies with what confidence (0 to 1; the sign test: no
// assumption about how the noise is distributed). At least 0.95 from six pairs on; with fewer the bounds are the least
// and the greatest ratio, and the confidence is what that is worth.
struct RatioRange {
  double median, low, high, confidence;
};

// Of dividend[i] / divisor[i]. Preconditions: the same number of both, at least one, all divisors above 0.
RatioRange MedianRatio(const std::vector<double>& dividend, const std::vector<double>& divisor);

}  // namespace samebit::cli
