// A line of JSON, cut into its numbers and what is between them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace nameplate {

// The keys that lead to a number; `parent` is empty at the top level.
struct Place {
  std::string_view parent;
  std::string_view key;

  bool operator==(const Place&) const = default;
};

// All texts are parts of the line.
struct JsonLine {
  std::vector<std::string_view> between;  // the text before each number, and after the last one
  std::vector<std::string_view> numbers;  // an array of numbers counts as one, with its brackets
  std::vector<Place> places;              // of each number; without a key below the second level
  std::vector<std::pair<std::string_view, std::string_view>> texts;  // of the top level, by key

  // Returns the text at a key; empty if there is none, or more than one.
  std::string_view text_of(std::string_view key) const;
  // Returns the index of the number at a place; nothing if there is none, or more than one.
  std::optional<std::size_t> find(Place place) const;
  // Returns the number at a place; nothing if there is no single one.
  std::optional<double> number_at(Place place) const;
};

// Cuts a line, whose syntax is not checked beyond that; `result` is reused. Returns false if it has escape sequences or
// is deeply nested.
bool cut(std::string_view line, JsonLine& result);

// Returns the end of the number or of the array of numbers at an index; the index itself if there is neither.
std::size_t end_of_numbers(std::string_view line, std::size_t at);

struct Number {
  double value;
  bool is_integer;
};

// Returns the number that a text is; nothing if JSON does not have it in this form, or if it is beyond the range.
std::optional<Number> number_of(std::string_view text);

}  // namespace nameplate
