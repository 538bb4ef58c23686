// A log-linear histogram of single operations' times, as in HdrHistogram and fio: 256 equal buckets per power of two,
// so that a bucket's width is at most 1/256 = 0.39 % of its value.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace nameplate {

class Histogram {
 public:
  static constexpr unsigned kSubBits = 8;
  static constexpr std::uint64_t kSubBuckets = 1U << kSubBits;
  static constexpr unsigned kGroups = 64 - kSubBits;
  static constexpr std::size_t kBuckets = (kGroups + 1) * kSubBuckets;

  // Adds one operation that took `nanoseconds`.
  void add(std::uint64_t nanoseconds) { ++counts_[index(nanoseconds)]; }

  void merge(const Histogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  }

  void clear() { counts_.fill(0); }

  std::uint64_t count(std::size_t bucket) const { return counts_[bucket]; }

  // Returns the bucket of a value: below 256 ns the value itself, above it the power of two and the 8 bits after the
  // leading one.
  static std::size_t index(std::uint64_t nanoseconds) {
    if (nanoseconds < kSubBuckets) return nanoseconds;
    const unsigned shift = static_cast<unsigned>(std::bit_width(nanoseconds)) - 1 - kSubBits;
    return (shift + 1) * kSubBuckets + ((nanoseconds >> shift) - kSubBuckets);
  }

  // Returns the smallest value in `bucket`, in nanoseconds.
  static std::uint64_t lower_bound(std::size_t bucket) {
    if (bucket < kSubBuckets) return bucket;
    const std::size_t shift = bucket / kSubBuckets - 1;
    return (kSubBuckets + bucket % kSubBuckets) << shift;
  }

  // Returns {"lower_ns": [...], "count": [...]} of the buckets that are not empty.
  nlohmann::json to_json() const {
    nlohmann::json lower = nlohmann::json::array();
    nlohmann::json count = nlohmann::json::array();
    for (std::size_t i = 0; i < kBuckets; ++i) {
      if (counts_[i] == 0) continue;
      lower.push_back(lower_bound(i));
      count.push_back(counts_[i]);
    }
    return {{"lower_ns", lower}, {"count", count}};
  }

 private:
  std::array<std::uint64_t, kBuckets> counts_{};
};

}  // namespace nameplate
