#include "rounds/json_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace nameplate {

namespace {

using CharacterSet = std::array<bool, 256>;

constexpr CharacterSet set_of(std::string_view characters) {
  CharacterSet result{};
  for (const char each : characters) result[static_cast<unsigned char>(each)] = true;
  return result;
}

constexpr CharacterSet kInNumber = set_of("0123456789+-.eE");
constexpr CharacterSet kInArray = set_of("0123456789+-.eE,");

bool is_digit(char character) { return character >= '0' && character <= '9'; }

class Cutter {
 public:
  Cutter(std::string_view line, JsonLine& result) : line_(line), result_(result) {}

  bool cut() {
    while (at_ < line_.size()) {
      if (!step()) return false;
    }
    result_.between.push_back(line_.substr(from_));
    return true;
  }

 private:
  bool step() {
    const char next = line_[at_];
    if (next == '"') return take_text();
    if ((is_digit(next) || next == '-' || next == '[') && take_numbers()) return true;
    ++at_;
    if (next == '{' || next == '[') return enter();
    if (next == '}' || next == ']') return leave();
    return true;
  }

  bool take_text() {
    std::size_t end = at_ + 1;
    while (end < line_.size() && line_[end] != '"' && line_[end] != '\\') ++end;
    if (end == line_.size() || line_[end] == '\\') return false;
    const std::string_view text = line_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    if (at_ < line_.size() && line_[at_] == ':') {
      keys_[depth_] = text;
    } else if (depth_ == 1) {
      result_.texts.emplace_back(keys_[1], text);
    }
    return true;
  }

  bool take_numbers() {
    const std::size_t end = end_of_numbers(line_, at_);
    if (end == at_) return false;
    result_.between.push_back(line_.substr(from_, at_ - from_));
    result_.numbers.push_back(line_.substr(at_, end - at_));
    result_.places.push_back(place());
    from_ = at_ = end;
    return true;
  }

  Place place() const {
    if (depth_ == 1) return {.parent = {}, .key = keys_[1]};
    if (depth_ == 2) return {.parent = keys_[1], .key = keys_[2]};
    return {};
  }

  bool enter() {
    if (++depth_ == keys_.size()) return false;
    keys_[depth_] = {};
    return true;
  }

  bool leave() { return depth_-- > 0; }

  static constexpr std::size_t kMaxDepth = 16;

  std::string_view line_;
  JsonLine& result_;
  std::size_t at_ = 0;
  std::size_t from_ = 0;
  std::size_t depth_ = 0;
  std::array<std::string_view, kMaxDepth> keys_;
};

// Returns the end of the digits at an index, of which there must be one.
std::optional<std::size_t> after_digits(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == begin) return std::nullopt;
  return at;
}

// Returns whether the text is a number as JSON has it, and has only digits.
std::optional<bool> is_integer(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const bool begins_with_zero = at < text.size() && text[at] == '0';
  auto end = after_digits(text, at);
  if (!end || (begins_with_zero && *end != at + 1)) return std::nullopt;
  at = *end;
  if (at < text.size() && text[at] == '.') {
    end = after_digits(text, at + 1);
    if (!end) return std::nullopt;
  }
  std::size_t last = *end;
  if (last < text.size() && (text[last] == 'e' || text[last] == 'E')) {
    const bool has_sign = last + 1 < text.size() && (text[last + 1] == '+' || text[last + 1] == '-');
    end = after_digits(text, last + (has_sign ? 2 : 1));
    if (!end) return std::nullopt;
    last = *end;
  }
  if (last != text.size()) return std::nullopt;
  return last == at;
}

}  // namespace

std::string_view JsonLine::text_of(std::string_view key) const {
  std::string_view result;
  for (const auto& [own_key, text] : texts) {
    if (own_key != key) continue;
    if (!result.empty()) return {};
    result = text;
  }
  return result;
}

std::optional<std::size_t> JsonLine::find(Place place) const {
  if (place.key.empty()) return std::nullopt;
  const auto found = std::ranges::find(places, place);
  if (found == places.end() || std::find(found + 1, places.end(), place) != places.end()) return std::nullopt;
  return static_cast<std::size_t>(found - places.begin());
}

std::optional<double> JsonLine::number_at(Place place) const {
  const auto index = find(place);
  const auto number = index ? number_of(numbers[*index]) : std::nullopt;
  return number ? std::optional(number->value) : std::nullopt;
}

bool cut(std::string_view line, JsonLine& result) {
  result.between.clear();
  result.numbers.clear();
  result.places.clear();
  result.texts.clear();
  return Cutter(line, result).cut();
}

std::size_t end_of_numbers(std::string_view line, std::size_t at) {
  const bool is_array = line[at] == '[';
  const CharacterSet& allowed = is_array ? kInArray : kInNumber;
  std::size_t end = is_array ? at + 1 : at;
  while (end < line.size() && allowed[static_cast<unsigned char>(line[end])]) ++end;
  if (!is_array) return end;
  return end < line.size() && line[end] == ']' ? end + 1 : at;
}

std::optional<Number> number_of(std::string_view text) {
  const auto integer = is_integer(text);
  if (!integer) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || end != text.end()) return std::nullopt;
  return Number{.value = value, .is_integer = *integer};
}

}  // namespace nameplate
