#include "probe/parameter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "probe/error.h"

namespace nameplate {

namespace {

using Units = std::vector<std::pair<std::string_view, double>>;

// Returns the number at the start of `text`, scaled by the unit after it; an empty unit is allowed if `units` has it.
std::optional<double> parse_with_unit(std::string_view text, const Units& units) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  for (const auto& [name, factor] : units) {
    if (name == unit) return number * factor;
  }
  return std::nullopt;
}

std::string range_text(const Parameter& parameter) {
  const std::string_view unit = parameter.type == ParameterType::size       ? " bytes"
                                : parameter.type == ParameterType::duration ? " s"
                                                                            : "";
  return fmt::format("{} to {}{}", parameter.minimum, parameter.maximum, unit);
}

[[noreturn]] void reject(const Parameter& parameter, const std::string& given, const std::string& expected) {
  fail(fmt::format("{}={}: not possible; use {}", parameter.name, given, expected));
}

void check_range(const Parameter& parameter, double value, const std::string& given) {
  if (value < parameter.minimum || value > parameter.maximum) reject(parameter, given, range_text(parameter));
}

std::string as_text(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

Value read_choice(const Parameter& parameter, const std::string& text) {
  const auto [word, percent] = split_percent(text);
  const bool is_percent = percent && word == parameter.percent_of && *percent > 0 && *percent < 100;
  if (!is_percent && std::ranges::find(parameter.choices, text) == parameter.choices.end()) {
    reject(parameter, text, fmt::format("one of {}", fmt::join(parameter.choices, ", ")));
  }
  return text;
}

Value read_integer(const Parameter& parameter, const std::string& text) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) reject(parameter, text, "a whole number");
  check_range(parameter, static_cast<double>(number), text);
  return number;
}

Value read_size(const Parameter& parameter, const std::string& text) {
  const auto bytes = parse_size(text);
  if (!bytes) reject(parameter, text, "a size such as 8, 8KiB or 80MB");
  check_range(parameter, static_cast<double>(*bytes), text);
  return *bytes;
}

Value read_bit_rate(const Parameter& parameter, const std::string& text) {
  const auto bits_per_s = parse_bit_rate(text);
  if (!bits_per_s) reject(parameter, text, "a rate such as 100Mbit/s or 1Gbit/s");
  check_range(parameter, static_cast<double>(*bits_per_s), text);
  return *bits_per_s;
}

Value read_duration(const Parameter& parameter, const std::string& text) {
  const auto seconds = parse_duration(text);
  if (!seconds) reject(parameter, text, "a duration such as 10ms or 2s");
  check_range(parameter, *seconds, text);
  return *seconds;
}

Value read_value(const Parameter& parameter, const std::string& text) {
  switch (parameter.type) {
    case ParameterType::choice: return read_choice(parameter, text);
    case ParameterType::integer: return read_integer(parameter, text);
    case ParameterType::size: return read_size(parameter, text);
    case ParameterType::duration: return read_duration(parameter, text);
    case ParameterType::text: return text;
    case ParameterType::bit_rate: return read_bit_rate(parameter, text);
  }
  fail("unknown parameter type");
}

}  // namespace

std::string to_string(ParameterType type) {
  constexpr std::array<const char*, 6> kNames = {"choice", "integer", "size", "duration", "text", "bit_rate"};
  return kNames.at(static_cast<std::size_t>(type));
}

Parameter choice(std::string name, std::string summary, std::vector<std::string> choices, std::string default_value) {
  return {.name = std::move(name),
          .type = ParameterType::choice,
          .summary = std::move(summary),
          .choices = std::move(choices),
          .percent_of = {},
          .default_value = std::move(default_value),
          .automatic = {}};
}

Parameter automatic_choice(std::string name, std::string summary, std::vector<std::string> choices,
                           std::string automatic) {
  return {.name = std::move(name),
          .type = ParameterType::choice,
          .summary = std::move(summary),
          .choices = std::move(choices),
          .percent_of = {},
          .default_value = std::nullopt,
          .automatic = std::move(automatic)};
}

Parameter integer(std::string name, std::string summary, double minimum, double maximum, std::string default_value) {
  return {.name = std::move(name),
          .type = ParameterType::integer,
          .summary = std::move(summary),
          .choices = {},
          .percent_of = {},
          .minimum = minimum,
          .maximum = maximum,
          .default_value = std::move(default_value),
          .automatic = {}};
}

Parameter size(std::string name, std::string summary, double minimum, double maximum, std::string default_value) {
  Parameter parameter = integer(std::move(name), std::move(summary), minimum, maximum, std::move(default_value));
  parameter.type = ParameterType::size;
  return parameter;
}

Parameter automatic_size(std::string name, std::string summary, double minimum, double maximum, std::string automatic) {
  Parameter parameter = automatic_integer(std::move(name), std::move(summary), minimum, maximum, std::move(automatic));
  parameter.type = ParameterType::size;
  return parameter;
}

Parameter automatic_integer(std::string name, std::string summary, double minimum, double maximum,
                            std::string automatic) {
  Parameter parameter = integer(std::move(name), std::move(summary), minimum, maximum, "");
  parameter.default_value = std::nullopt;
  parameter.automatic = std::move(automatic);
  return parameter;
}

Parameter automatic_bit_rate(std::string name, std::string summary, double minimum, double maximum,
                             std::string automatic) {
  Parameter parameter = automatic_integer(std::move(name), std::move(summary), minimum, maximum, std::move(automatic));
  parameter.type = ParameterType::bit_rate;
  return parameter;
}

Parameter duration(std::string name, std::string summary, double minimum, double maximum, std::string default_value) {
  Parameter parameter = integer(std::move(name), std::move(summary), minimum, maximum, std::move(default_value));
  parameter.type = ParameterType::duration;
  return parameter;
}

Parameter automatic_text(std::string name, std::string summary, std::string automatic) {
  return {.name = std::move(name),
          .type = ParameterType::text,
          .summary = std::move(summary),
          .choices = {},
          .percent_of = {},
          .default_value = std::nullopt,
          .automatic = std::move(automatic)};
}

Parameter ends_parameter() {
  return choice("ends", "work: each worker does the same work; time: each works for the same time", {"work", "time"},
                "work");
}

Parameter threads_parameter() {
  constexpr double kMaxThreads = 4096;
  return automatic_integer("threads", "workers; more than there are cores is allowed and flagged as oversubscribed", 1,
                           kMaxThreads, "one per physical core that the affinity mask and the cgroup quota allow");
}

std::pair<std::string, std::optional<int>> split_percent(const std::string& word) {
  const auto colon = word.find(':');
  if (colon == std::string::npos) return {word, std::nullopt};
  int percent = 0;
  const auto [rest, error] = std::from_chars(word.data() + colon + 1, word.data() + word.size(), percent);
  if (error != std::errc() || rest != word.data() + word.size()) return {word, std::nullopt};
  return {word.substr(0, colon), percent};
}

std::optional<std::string> Parameters::word_if_given(const std::string& name) const {
  return has(name) ? std::optional(word(name)) : std::nullopt;
}

std::optional<std::int64_t> Parameters::count_if_given(const std::string& name) const {
  return has(name) ? std::optional(count(name)) : std::nullopt;
}

nlohmann::json Parameters::to_json() const {
  nlohmann::json result = nlohmann::json::object();
  for (const auto& [name, value] : values_) {
    std::visit([&result, &name = name](const auto& held) { result[name] = held; }, value);
  }
  return result;
}

namespace {

// Returns an integer that is small enough to be exact, or nothing.
std::optional<std::int64_t> exact_integer(std::optional<double> value) {
  constexpr double kExactIntegers = 0x1p53;
  if (!value || *value > kExactIntegers || std::floor(*value) != *value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace

std::optional<std::int64_t> parse_size(std::string_view text) {
  static const Units kUnits = {{"", 1},      {"B", 1},        {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
                               {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  return exact_integer(parse_with_unit(text, kUnits));
}

std::optional<std::int64_t> parse_bit_rate(std::string_view text) {
  static const Units kUnits = {{"", 1}, {"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}};
  return exact_integer(parse_with_unit(text, kUnits));
}

std::optional<double> parse_duration(std::string_view text) {
  static const Units kUnits = {{"", 1}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
  return parse_with_unit(text, kUnits);
}

Parameters check_parameters(const std::vector<Parameter>& declared, const nlohmann::json& given) {
  if (!given.is_object()) fail("params must be an object of names and values");
  for (const auto& [name, value] : given.items()) {
    const bool known = std::ranges::any_of(declared, [&name = name](const Parameter& p) { return p.name == name; });
    if (!known) fail(fmt::format("unknown parameter '{}'", name));
  }
  Parameters result;
  for (const Parameter& parameter : declared) {
    if (given.contains(parameter.name)) {
      result.set(parameter.name, read_value(parameter, as_text(given.at(parameter.name))));
    } else if (parameter.default_value) {
      result.set(parameter.name, read_value(parameter, *parameter.default_value));
    }
  }
  return result;
}

nlohmann::json to_json(const Parameter& parameter) {
  nlohmann::json result = {{"name", parameter.name},
                           {"type", to_string(parameter.type)},
                           {"summary", parameter.summary},
                           {"default", nullptr},
                           {"automatic", parameter.automatic}};
  if (parameter.default_value) result["default"] = *parameter.default_value;
  if (parameter.type == ParameterType::choice) {
    result["choices"] = parameter.choices;
    if (!parameter.percent_of.empty()) result["percent_of"] = parameter.percent_of;
  } else if (parameter.type != ParameterType::text) {
    result["minimum"] = parameter.minimum;
    result["maximum"] = parameter.maximum;
  }
  return result;
}

}  // namespace nameplate
