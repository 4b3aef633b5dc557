#include "cli/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace samebit::cli {
namespace {

// The interval from the k-th least to the k-th greatest of a number of values.
struct Bounds {
  size_t rank;  // k
  double confidence;
};

// The greatest k with 1 - 2 P(Binomial(count, 1/2) < k) >= 95 %, at least 1.
Bounds BoundsOfMedian(size_t count) {
  double log_term = -static_cast<double>(count) * std::log(2.0);  // of P(Binomial = k), here k = 0
  double below = 0;                                               // P(Binomial < k)
  for (size_t k = 0;; ++k) {
    const double including = below + std::exp(log_term);
    if (k > 0 && including > 0.025) return {k, 1 - 2 * below};
    below = including;
    log_term += std::log(static_cast<double>(count - k)) - std::log(static_cast<double>(k + 1));
  }
}

}  // namespace

double Best(const std::vector<double>& seconds) {
  CHECK(!seconds.empty());
  return *std::min_element(seconds.begin(), seconds.end());
}

double Median(std::vector<double> seconds) {
  CHECK(!seconds.empty());
  std::sort(seconds.begin(), seconds.end());
  const size_t middle = seconds.size() / 2;
  return seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
}

RatioRange MedianRatio(const std::vector<double>& dividend, const std::vector<double>& divisor) {
  CHECK(dividend.size() == divisor.size() && !dividend.empty());
  std::vector<double> ratios;
  for (size_t i = 0; i < dividend.size(); ++i) ratios.push_back(dividend[i] / divisor[i]);
  std::sort(ratios.begin(), ratios.end());
  const Bounds bounds = BoundsOfMedian(ratios.size());
  return {Median(ratios), ratios[bounds.rank - 1], ratios[ratios.size() - bounds.rank], bounds.confidence};
}

}  // namespace samebit::cli
