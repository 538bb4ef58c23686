#include "rounds/range.h"

#include <cstddef>

#include "rounds/json_line.h"

namespace nameplate {

std::string_view take_first(std::string_view& list) {
  const std::size_t comma = list.find(',');
  const std::string_view first = list.substr(0, comma);
  list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  return first;
}

bool Range::add(std::string_view text) {
  if (is_array(text) != is_of_arrays_) return false;
  if (!is_of_arrays_) return add_number(text);
  std::string_view list = text.substr(1, text.size() - 2);
  if (list.ends_with(',')) return false;
  while (!list.empty()) {
    if (!add_number(take_first(list))) return false;
  }
  return true;
}

bool Range::add_number(std::string_view text) {
  if (text == last_text_) return !text.empty();  // most are the same in all samples
  const auto number = number_of(text);
  if (!number) return false;
  last_ = number->value;
  last_text_ = text;
  if (lowest_.empty()) {
    is_whole_ = number->is_integer;
    low_ = high_ = last_;
    lowest_ = highest_ = text;
  } else if (last_ < low_) {
    low_ = last_;
    lowest_ = text;
  } else if (last_ > high_) {
    high_ = last_;
    highest_ = text;
  }
  return number->is_integer == is_whole_;
}

bool Range::fits(const Range& other) const {
  const bool is_empty = lowest_.empty() || other.lowest_.empty();
  return is_of_arrays_ == other.is_of_arrays_ && (is_empty || is_whole_ == other.is_whole_);
}

void Range::merge(const Range& other) {
  if (other.lowest_.empty()) return;
  if (lowest_.empty()) {
    *this = other;
    return;
  }
  if (other.low_ < low_) {
    low_ = other.low_;
    lowest_ = other.lowest_;
  }
  if (other.high_ > high_) {
    high_ = other.high_;
    highest_ = other.highest_;
  }
}

std::string Range::in_brackets(std::string_view number) const {
  std::string result;
  if (is_of_arrays_) result += '[';
  result += number;
  if (is_of_arrays_) result += ']';
  return result;
}

}  // namespace nameplate
