#include "server/histogram.h"

#include <algorithm>

#include "base/check.h"
#include "base/decimal.h"

namespace samebit::server {

void Histogram::Add(double value) {
  ++buckets_[static_cast<size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin())];
  sum_ += value;
  ++count_;
}

void Histogram::Add(const Histogram& other) {
  CHECK(other.bounds_.data() == bounds_.data());
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  sum_ += other.sum_;
  count_ += other.count_;
}

void Histogram::Write(std::string& out, const std::string& name) const {
  uint64_t below = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    below += buckets_[i];
    out += name + "_bucket{le=\"" + Decimal(bounds_[i]) + "\"} " + std::to_string(below) + "\n";
  }
  out += name + "_bucket{le=\"+Inf\"} " + std::to_string(count_) + "\n";
  out += name + "_sum " + Decimal(sum_) + "\n";
  out += name + "_count " + std::to_string(count_) + "\n";
}

}  // namespace samebit::server
