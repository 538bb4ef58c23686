#include "batch/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

namespace nameplate {

namespace {

constexpr std::size_t kAreaWidth = 5;
constexpr std::size_t kLabelWidth = 22;

struct Scale {
  double factor;
  std::string prefix;
};

Scale scale_of(double value) {
  static const std::array<Scale, 9> prefixes = {
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}}};
  const auto* const match = std::ranges::find_if(prefixes, [value](const Scale& one) { return value >= one.factor; });
  return match == prefixes.end() ? prefixes.back() : *match;
}

std::string three_digits(double value) {
  if (value < 1) return fmt::format("{:.3g}", value);
  constexpr int kDigits = 3;
  const int integer_digits = static_cast<int>(std::floor(std::log10(value))) + 1;
  return fmt::format("{:.{}f}", value, std::max(0, kDigits - integer_digits));
}

std::string parameter_text(std::int64_t bytes) {
  constexpr std::int64_t kStep = 1024;
  for (const char* const unit : {"B", "KiB", "MiB"}) {
    if (bytes < kStep || bytes % kStep != 0) return fmt::format("{}{}", bytes, unit);
    bytes /= kStep;
  }
  return fmt::format("{}GiB", bytes);
}

// Returns a parameter's value as labels have it.
std::string value_text(const std::string& name, const nlohmann::json& value) {
  if (name == "threads") return fmt::format("{} thread{}", value.get<int>(), value == 1 ? "" : "s");
  if (value.is_number()) return name == "block" || name == "size" ? parameter_text(value) : value.dump();
  auto text = value.get<std::string>();
  if (name == "protocol") std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string filled(std::string label, const nlohmann::json& params) {
  for (const auto& [name, value] : params.items()) {
    const std::string braced = "{" + name + "}";
    if (const auto at = label.find(braced); at != std::string::npos) {
      label.replace(at, braced.size(), value_text(name, value));
    }
  }
  return label;
}

std::string value_line(const OrderedJson& line, const MetricRounds& metric) {
  const double factor = line["per_base_unit"];
  const double median = metric.typical().value_or(0) * factor;
  const auto [lowest, highest] = std::ranges::minmax(metric.values());
  const Scale scale = scale_of(median);
  std::string value = fmt::format("{:>14}", brief({median}, line["unit"]));
  if (metric.values().size() == 1) return value;
  return fmt::format("{}  {:>7} to {}", value, three_digits(lowest * factor / scale.factor),
                     three_digits(highest * factor / scale.factor));
}

// Returns the lines below a line, which show several metrics of the same experiment.
std::vector<std::string> lines_below(const OrderedJson& line, const Candidate& candidate) {
  std::vector<std::string> result;
  std::size_t index = line["metrics"].size();
  for (const OrderedJson& below : line["below"]) {
    std::vector<std::optional<double>> numbers;
    for (std::size_t i = 0; i < below["metrics"].size(); ++i) {
      numbers.push_back(candidate.metrics[index++].typical());
    }
    if (std::ranges::none_of(numbers, [](const auto& number) { return number.has_value(); })) continue;
    const auto label = below["label"].get<std::string>();
    result.push_back(fmt::format("{:{}}{:{}}{:>14}", "", kAreaWidth, label, kLabelWidth,
                                 brief(numbers, below["metrics"][0]["unit"])));
  }
  return result;
}

std::string hypervisor_text(const Machine& machine) {
  if (machine.hypervisor) return ", " + *machine.hypervisor + " guest";
  return machine.is_hypervisor_known ? "" : ", hypervisor unknown";
}

}  // namespace

std::string brief(const std::vector<std::optional<double>>& numbers, const std::string& unit) {
  double highest = 0;
  for (const auto& number : numbers) highest = std::max(highest, number.value_or(0));
  const Scale scale = scale_of(highest);
  std::string text;
  for (const auto& number : numbers) {
    if (!text.empty()) text += '/';
    text += number ? three_digits(*number / scale.factor) : "–";
  }
  return fmt::format("{} {}{}", text, scale.prefix, unit);
}

std::string machine_line(const Machine& machine) {
  constexpr double kMebibyte = 1 << 20;
  constexpr double kGibibyte = 1 << 30;
  const auto bytes = static_cast<double>(machine.memory.total_bytes);
  const std::string memory =
      bytes < kGibibyte ? fmt::format("{:.0f} MiB", bytes / kMebibyte) : fmt::format("{:.1f} GiB", bytes / kGibibyte);
  const std::string& model = machine.cpu.model.empty() ? machine.cpu.architecture : machine.cpu.model;
  return fmt::format("{} · {}, {} core{}, {}{}{}{}", machine.hostname, model, machine.topology.cores,
                     machine.topology.cores == 1 ? "" : "s", memory, hypervisor_text(machine),
                     machine.container ? ", " + *machine.container + " container" : "",
                     machine.emulator ? ", emulated" : "");
}

std::vector<std::string> value_lines(const OrderedJson& lines, const Values& values) {
  std::vector<std::string> result = {
      fmt::format("{:{}}{:>14}  {:>7}", "", kAreaWidth + kLabelWidth, "median", "range")};
  std::set<std::string> labels;
  std::string previous;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const OrderedJson& line = lines[i];
    const Candidate* const best = values.best_of(i);
    if (best == nullptr) continue;
    const std::string label = filled(line["label"], best->params);
    if (!labels.insert(label).second) continue;
    const auto area = line["area"].get<std::string>();
    result.push_back(fmt::format("{:{}}{:{}}{}{}", area == previous ? "" : area, kAreaWidth, label, kLabelWidth,
                                 value_line(line, best->metrics.front()),
                                 best->is_local            ? "  loopback only"
                                 : best->is_oversubscribed ? "  oversubscribed"
                                                           : ""));
    std::ranges::copy(lines_below(line, *best), std::back_inserter(result));
    previous = area;
  }
  return result;
}

}  // namespace nameplate
