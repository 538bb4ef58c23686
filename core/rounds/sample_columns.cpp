#include "rounds/sample_columns.h"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace nameplate {

namespace {

constexpr std::string_view kEmptyArray = "[]";

bool is_array(std::string_view numbers) { return numbers.starts_with('['); }

// Returns the first number of a list with commas, and removes it from the list.
std::string_view take_first(std::string_view& list) {
  const std::size_t comma = list.find(',');
  const std::string_view first = list.substr(0, comma);
  list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  return first;
}

// Collects the numbers of one column.
class Extremes {
 public:
  // Returns false if the text is no number, or is whole and another number of the column is not.
  bool add(std::string_view text) {
    if (text == last_text_) return true;  // most are the same in all samples
    const auto number = number_of(text);
    if (!number) return false;
    last_ = number->value;
    last_text_ = text;
    if (lowest_.empty()) {
      is_integer_ = number->is_integer;
      lowest_ = highest_ = text;
      low_ = high_ = last_;
    }
    if (last_ < low_) {
      low_ = last_;
      lowest_ = text;
    }
    if (last_ > high_) {
      high_ = last_;
      highest_ = text;
    }
    return number->is_integer == is_integer_;
  }

  // Adds the numbers of an array with its brackets.
  bool add_array(std::string_view array) {
    if (array == kEmptyArray) return true;
    std::string_view list = array.substr(1, array.size() - 2);
    if (list.ends_with(',')) return false;
    while (!list.empty()) {
      if (!add(take_first(list))) return false;
    }
    return true;
  }

  double last() const { return last_; }
  std::string_view lowest() const { return lowest_; }
  std::string_view highest() const { return highest_; }

 private:
  bool is_integer_ = false;
  double last_ = 0;
  std::string_view last_text_;
  double low_ = 0;
  double high_ = 0;
  std::string_view lowest_;
  std::string_view highest_;
};

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
  std::size_t at = 0;
  for (std::size_t i = 0;; ++i) {
    const std::string_view between = first_.between[i];
    if (line.substr(at, between.size()) != between) break;
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
  lowest_.clear();
  highest_.clear();
  for (std::size_t column = 0; column < columns; ++column) {
    if (!read_column(column)) return false;
  }
  return true;
}

bool SampleColumns::read_column(std::size_t column) {
  const std::size_t columns = first_.numbers.size();
  const bool has_arrays = is_array(numbers_[column]);
  Extremes extremes;
  for (std::size_t row = 0; row < rows_; ++row) {
    const std::string_view numbers = numbers_[row * columns + column];
    if (is_array(numbers) != has_arrays) return false;
    if (!(has_arrays ? extremes.add_array(numbers) : extremes.add(numbers))) return false;
    values_[column * rows_ + row] = extremes.last();
  }
  lowest_.push_back(extremes.lowest());
  highest_.push_back(extremes.highest());
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

std::string SampleColumns::with(const std::vector<std::string_view>& numbers) const {
  std::string result;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool has_arrays = is_array(first_.numbers[i]);
    result += first_.between[i];
    if (has_arrays) result += '[';
    result += numbers[i];
    if (has_arrays) result += ']';
  }
  result += first_.between.back();
  return result;
}

}  // namespace nameplate
