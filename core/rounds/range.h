// The range of the numbers in one place of several samples.
#pragma once

#include <string>
#include <string_view>

namespace nameplate {

// Keeps the texts of the lowest and the highest number, which must outlive it.
class Range {
 public:
  explicit Range(bool is_of_arrays) : is_of_arrays_(is_of_arrays) {}

  // Adds a number, or an array of numbers with its brackets. Returns false if it is neither, is not what the others
  // are, or if only some numbers are whole.
  bool add(std::string_view text);
  // Returns whether `merge` is possible: both have arrays, or none has, and their numbers are whole, or none is.
  bool fits(const Range& other) const;
  void merge(const Range& other);

  // The number that was added last.
  double last() const { return last_; }
  // The texts as in a sample; an array has the one number, or none.
  std::string lowest() const { return in_brackets(lowest_); }
  std::string highest() const { return in_brackets(highest_); }

 private:
  bool add_number(std::string_view text);
  std::string in_brackets(std::string_view number) const;

  bool is_of_arrays_;
  bool is_whole_ = false;
  double last_ = 0;
  double low_ = 0;
  double high_ = 0;
  std::string_view last_text_;
  std::string_view lowest_;  // empty without numbers
  std::string_view highest_;
};

// Returns whether a text is an array, and no number.
inline bool is_array(std::string_view numbers) { return numbers.starts_with('['); }

// Returns the first number of a list with commas, and removes it from the list.
std::string_view take_first(std::string_view& list);

}  // namespace nameplate
