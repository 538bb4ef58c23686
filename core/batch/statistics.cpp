#include "batch/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace nameplate {

namespace {

double middle_s(std::uint64_t lower_ns) {
  constexpr int kBucketBits = 9;
  constexpr double kNanosecond_s = 1e-9;
  const int doublings = std::max(0, static_cast<int>(std::bit_width(lower_ns)) - kBucketBits);
  const auto width_ns = std::uint64_t{1} << static_cast<unsigned>(doublings);
  return (static_cast<double>(lower_ns) + static_cast<double>(width_ns - 1) / 2) * kNanosecond_s;
}

}  // namespace

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void TimedOperations::add(const Bucket& bucket) {
  counts_[bucket.first] += bucket.second;
  total_ += static_cast<std::int64_t>(bucket.second);
}

std::optional<double> TimedOperations::percentile_s(double share) const {
  constexpr double kMinBeyond = 10;
  constexpr double kRounding = 1e-9;
  const auto total = static_cast<double>(total_);
  if (total_ == 0 || (share != 1 && total * (1 - share) < kMinBeyond - kRounding)) return std::nullopt;
  auto rank = static_cast<std::int64_t>(std::max(1.0, std::ceil(share * total - kRounding)));
  for (const auto& [lower_ns, count] : counts_) {
    rank -= static_cast<std::int64_t>(count);
    if (rank <= 0) return middle_s(lower_ns);
  }
  return std::nullopt;
}

}  // namespace nameplate
