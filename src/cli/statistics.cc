#include "cli/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace samebit::cli {
namespace {

// The interval from the k-th least to the k-th greatest of `count` values: the greatest k with
// P(Binomial(count, 1/2) < k) <= 2.5 %, at least 1.
size_t RankOfBounds(size_t count) {
  double log_term = -static_cast<double>(count) * std::log(2.0);  // of P(Binomial = k), here k = 0
  double below = 0;
  size_t k = 0;
  while (true) {
    below += std::exp(log_term);
    if (below > 0.025) return std::max(k, size_t{1});
    log_term += std::log(static_cast<double>(count - k)) - std::log(static_cast<double>(k + 1));
    ++k;
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
  const size_t rank = RankOfBounds(ratios.size());
  return {Median(ratios), ratios[rank - 1], ratios[ratios.size() - rank]};
}

}  // namespace samebit::cli
