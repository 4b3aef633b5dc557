// Counts of values between fixed bounds, as Prometheus has them. Not for several threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace samebit::server {

class Histogram {
 public:
  // bounds: ascending, upper and inclusive; they must outlive it. Above the last one: +Inf.
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds), buckets_(bounds.size() + 1) {}

  void Add(double value);
  // Of the same bounds.
  void Add(const Histogram& other);
  uint64_t count() const { return count_; }
  // The lines of a metric, without HELP and TYPE.
  void Write(std::string& out, const std::string& name) const;

 private:
  std::span<const double> bounds_;
  std::vector<uint64_t> buckets_;  // not cumulative
  double sum_ = 0;
  uint64_t count_ = 0;
};

}  // namespace samebit::server
