// Neighbouring samples of a run file that differ only in their numbers, with a column for each number.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rounds/json_line.h"
#include "rounds/statistics.h"

namespace nameplate {

class SampleColumns {
 public:
  // Begins with a sample; lines have their newlines, and must outlive the columns. Returns false if it has no columns.
  bool begin(std::string_view line);
  // Adds a sample; returns false if it differs in more than its numbers.
  bool add(std::string_view line);
  // Reads the numbers. Returns false if one is none, or if a column has whole and other numbers, or two rows of it
  // arrays and other numbers.
  bool read();

  std::size_t rows() const { return rows_; }
  std::string_view id() const { return first_.text_of("id"); }
  // After `read`: a column, from first to last sample; empty if there is none at this place, or one of arrays.
  std::span<const double> column(Place place) const;
  // After `read`: the buckets of all histograms; nothing if their two arrays differ in length, or with more operations
  // than a double tells apart.
  std::optional<std::vector<Bucket>> buckets() const;
  // After `read`: a sample with the lowest (highest) number of each column; an array has this number only.
  std::string lowest() const { return with(lowest_); }
  std::string highest() const { return with(highest_); }

 private:
  bool read_column(std::size_t column);
  std::string with(const std::vector<std::string_view>& numbers) const;

  JsonLine first_;
  std::vector<std::string_view> numbers_;  // row by row
  std::size_t rows_ = 0;
  std::vector<double> values_;  // column by column
  std::vector<std::string_view> lowest_;
  std::vector<std::string_view> highest_;
};

}  // namespace nameplate
