// The parameters of a probe, declared once here, and read by the core, by Python and by the docs through `--describe`.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nameplate {

enum class ParameterType {
  choice,    // one of a list of words
  integer,   // an integer in [minimum, maximum]
  size,      // bytes: 8, 8KiB, 80MB (KB/MB/GB are 10^3, KiB/MiB/GiB 2^10)
  duration,  // seconds: 10ms, 2s
  text,      // any text: the path of a file, a name
  bit_rate,  // bits per second: 100Mbit/s
};

std::string to_string(ParameterType type);

struct Parameter {
  std::string name;
  ParameterType type;
  std::string summary;
  std::vector<std::string> choices;  // for a choice
  std::string percent_of;            // the choice that a percentage from 1 to 99 may follow: readwrite:70
  double minimum = 0;                // for the other types, both ends included; bytes or seconds
  double maximum = 0;
  std::optional<std::string> default_value;  // nothing: the probe decides, as `automatic` says
  std::string automatic;                     // how the probe decides
};

Parameter choice(std::string name, std::string summary, std::vector<std::string> choices, std::string default_value);
Parameter automatic_choice(std::string name, std::string summary, std::vector<std::string> choices,
                           std::string automatic);
Parameter integer(std::string name, std::string summary, double minimum, double maximum, std::string default_value);
Parameter size(std::string name, std::string summary, double minimum, double maximum, std::string default_value);
Parameter automatic_size(std::string name, std::string summary, double minimum, double maximum, std::string automatic);
Parameter duration(std::string name, std::string summary, double minimum, double maximum, std::string default_value);
Parameter automatic_integer(std::string name, std::string summary, double minimum, double maximum,
                            std::string automatic);
Parameter automatic_text(std::string name, std::string summary, std::string automatic);
Parameter automatic_bit_rate(std::string name, std::string summary, double minimum, double maximum,
                             std::string automatic);
// The `ends` parameter of probes whose workers may end by time.
Parameter ends_parameter();
// The `threads` parameter of every threaded probe: by default one worker per allowed physical core.
Parameter threads_parameter();

// A parameter's value: a word, a count (also bytes), or seconds.
using Value = std::variant<std::string, std::int64_t, double>;

class Parameters {
 public:
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  bool has(const std::string& name) const { return values_.contains(name); }

  // Each throws std::out_of_range for a name that the probe did not declare, a programming error.
  const std::string& word(const std::string& name) const { return std::get<std::string>(values_.at(name)); }
  std::int64_t count(const std::string& name) const { return std::get<std::int64_t>(values_.at(name)); }
  double seconds(const std::string& name) const { return std::get<double>(values_.at(name)); }

  std::optional<std::string> word_if_given(const std::string& name) const;
  std::optional<std::int64_t> count_if_given(const std::string& name) const;

  nlohmann::json to_json() const;

 private:
  std::map<std::string, Value> values_;
};

// Returns the bytes of "8KiB", "80MB", "1.5GiB" or "4096". Nothing for text that is not a size or not an integer number
// of bytes.
std::optional<std::int64_t> parse_size(std::string_view text);

// Returns the bits per second of "100Mbit/s" or "1.5Gbit/s". Nothing for text that is not a rate or not an integer
// number of bits per second.
std::optional<std::int64_t> parse_bit_rate(std::string_view text);

// Returns the seconds of "10ms", "2s", "1.5min" or "0.25". Nothing for text that is not a duration.
std::optional<double> parse_duration(std::string_view text);

// Splits "readwrite:70" into its two parts; without a percentage the second is nothing.
std::pair<std::string, std::optional<int>> split_percent(const std::string& word);

// Checks the values in a request against the declaration, and fills in the defaults. Throws ProbeError(failed) with the
// parameter, the value and what to use instead.
Parameters check_parameters(const std::vector<Parameter>& declared, const nlohmann::json& given);

nlohmann::json to_json(const Parameter& parameter);

}  // namespace nameplate
