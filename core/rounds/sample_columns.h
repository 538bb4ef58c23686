// Neighbouring samples of a run file that differ only in their numbers, with a column for each number.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rounds/json_line.h"
#include "rounds/range.h"
#include "rounds/statistics.h"

namespace nameplate {

class SampleColumns {
 public:
  // Begins with a sample; lines have their newlines, and must outlive the columns. Returns false if it has no columns.
  bool begin(std::string_view line);
  // Adds a sample; returns false if it differs in more than its numbers, or if there are too many numbers.
  bool add(std::string_view line);
  // Reads the numbers. Returns false if a number is none, or if a column has whole and other numbers, or arrays and
  // numbers.
  bool read();

  std::size_t rows() const { return rows_; }
  std::string_view id() const { return first_.text_of("id"); }
  // After `read`: a column, from first to last sample; empty if there is none at this place, or one of arrays.
  std::span<const double> column(Place place) const;
  // After `read`: the buckets of all histograms; nothing if their two arrays differ in length, or with more operations
  // than a double tells apart.
  std::optional<std::vector<Bucket>> buckets() const;
  // After `read`: the range of each column, and what is between them.
  const std::vector<Range>& ranges() const { return ranges_; }
  const std::vector<std::string_view>& between() const { return first_.between; }

 private:
  JsonLine first_;
  std::vector<std::string_view> numbers_;  // row by row
  std::size_t rows_ = 0;
  std::vector<double> values_;  // column by column
  std::vector<Range> ranges_;
};

// The ranges of all numbers in samples that differ only in numbers.
class SampleRanges {
 public:
  // After `samples.read()`; the lines must outlive the ranges.
  explicit SampleRanges(const SampleColumns& samples) : between_(samples.between()), ranges_(samples.ranges()) {}

  // Adds the ranges of other samples, which are read. Returns false if they differ in more than numbers.
  bool merge(const SampleColumns& samples);
  // A sample with the lowest (highest) of each number.
  std::string lowest() const { return with(&Range::lowest); }
  std::string highest() const { return with(&Range::highest); }

 private:
  std::string with(std::string (Range::*number)() const) const;

  std::vector<std::string_view> between_;
  std::vector<Range> ranges_;
};

}  // namespace nameplate
