// The median of numbers and the percentile of times, as src/nameplate/statistics/stats.py computes them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace nameplate {

// `values` are one or more.
double median_of(std::vector<double> values);

// The lower bound of a bucket of a histogram in nanoseconds, and the number of operations in it.
using Bucket = std::pair<std::uint64_t, std::uint64_t>;

class TimedOperations {
 public:
  void add(const Bucket& bucket);

  // Returns the time in seconds that a share of the operations do not exceed, the middle of a bucket. Nothing if fewer
  // than ten operations are above it, or, with share 1, if there are none.
  std::optional<double> percentile_s(double share) const;

 private:
  std::map<std::uint64_t, std::uint64_t> counts_;  // by lower bound
  std::int64_t total_ = 0;
};

}  // namespace nameplate
