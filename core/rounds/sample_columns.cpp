#include "rounds/sample_columns.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace nameplate {

namespace {

// A hundred times as many as a series of ten minutes has.
constexpr std::size_t kMaxNumbers = std::size_t{1} << 22U;

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || end != text.end()) return std::nullopt;
  return value;
}

// Adds the buckets of one histogram. Returns false if the arrays differ in length, or numbers are not whole.
bool add_buckets(std::string_view bounds, std::string_view counts, std::vector<Bucket>& result) {
  if (!is_array(bounds) || !is_array(counts)) return false;
  bounds = bounds.substr(1, bounds.size() - 2);
  counts = counts.substr(1, counts.size() - 2);
  while (!bounds.empty() && !counts.empty()) {
    const auto bound = whole_number(take_first(bounds));
    const auto count = whole_number(take_first(counts));
    if (!bound || !count) return false;
    result.emplace_back(*bound, *count);
  }
  return bounds.empty() && counts.empty();
}

bool can_be_summed(const std::vector<Bucket>& buckets) {
  constexpr std::uint64_t kMaxSum = std::uint64_t{1} << 53U;
  std::uint64_t sum = 0;
  for (const auto& [bound, count] : buckets) {
    if (count > kMaxSum || bound > kMaxSum) return false;
    sum += count;
    if (sum > kMaxSum) return false;
  }
  return true;
}

}  // namespace

bool SampleColumns::begin(std::string_view line) {
  rows_ = 0;
  if (!cut(line, first_)) return false;
  numbers_ = first_.numbers;
  rows_ = 1;
  return true;
}

bool SampleColumns::add(std::string_view line) {
  const std::size_t before = numbers_.size();
  const std::size_t columns = first_.numbers.size();
  if (before + columns > kMaxNumbers) return false;
  std::size_t at = 0;
  for (std::size_t i = 0;; ++i) {
    const std::string_view between = first_.between[i];
    // A call of memcmp takes less time than the operator.
    if (line.size() - at < between.size()) break;
    if (std::memcmp(line.data() + at, between.data(), between.size()) != 0) break;
    at += between.size();
    if (i == columns) {
      if (at != line.size()) break;
      ++rows_;
      return true;
    }
    const std::size_t end = end_of_numbers(line, at);
    if (end == at) break;
    numbers_.push_back(line.substr(at, end - at));
    at = end;
  }
  numbers_.resize(before);
  return false;
}

bool SampleColumns::read() {
  const std::size_t columns = first_.numbers.size();
  values_.assign(columns * rows_, 0);
  ranges_.clear();
  for (std::size_t column = 0; column < columns; ++column) {
    Range& range = ranges_.emplace_back(is_array(first_.numbers[column]));
    for (std::size_t row = 0; row < rows_; ++row) {
      if (!range.add(numbers_[row * columns + column])) return false;
      values_[column * rows_ + row] = range.last();
    }
  }
  return true;
}

std::span<const double> SampleColumns::column(Place place) const {
  const auto index = first_.find(place);
  if (!index || is_array(first_.numbers[*index])) return {};
  return std::span(values_).subspan(*index * rows_, rows_);
}

std::optional<std::vector<Bucket>> SampleColumns::buckets() const {
  const auto bounds = first_.find({.parent = "histogram", .key = "lower_ns"});
  const auto counts = first_.find({.parent = "histogram", .key = "count"});
  std::vector<Bucket> result;
  if (!bounds && !counts) return result;
  if (!bounds || !counts) return std::nullopt;
  const std::size_t columns = first_.numbers.size();
  for (std::size_t row = 0; row < rows_; ++row) {
    if (!add_buckets(numbers_[row * columns + *bounds], numbers_[row * columns + *counts], result)) return std::nullopt;
  }
  if (!can_be_summed(result)) return std::nullopt;
  return result;
}

bool SampleRanges::merge(const SampleColumns& samples) {
  const std::vector<Range>& others = samples.ranges();
  if (between_ != samples.between() || !std::ranges::equal(ranges_, others, &Range::fits)) return false;
  for (std::size_t i = 0; i < ranges_.size(); ++i) ranges_[i].merge(others[i]);
  return true;
}

std::string SampleRanges::with(std::string (Range::*number)() const) const {
  std::string result;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    result += between_[i];
    result += (ranges_[i].*number)();
  }
  result += between_.back();
  return result;
}

}  // namespace nameplate
