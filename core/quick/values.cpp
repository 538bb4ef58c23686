#include "quick/values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <tuple>

namespace nameplate {

namespace {

using nlohmann::json;

constexpr double kMinBeyond = 10;  // a percentile needs this many operations above it

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Returns the number at a place such as "sample/work/ops".
double number_at(const std::string& place, const json& outcome, const json& sample) {
  const auto slash = place.find('/');
  const json& record = place.compare(0, slash, "sample") == 0 ? sample : outcome;
  return record.at(json::json_pointer(place.substr(slash)));
}

double product(const OrderedJson& places, const json& outcome, const json& sample) {
  double result = 1;
  for (const auto& place : places) result *= number_at(place, outcome, sample);
  return result;
}

// Returns the percentile of all operations of a round, as src/nameplate/statistics/stats.py computes it.
std::optional<double> percentile_s(double share, const std::vector<json>& samples) {
  std::map<std::uint64_t, std::uint64_t> counts;
  std::uint64_t total = 0;
  for (const json& sample : samples) {
    if (!sample.contains("histogram")) continue;
    const json& histogram = sample["histogram"];
    for (std::size_t i = 0; i < histogram["count"].size(); ++i) {
      const auto count = histogram["count"][i].get<std::uint64_t>();
      counts[histogram["lower_ns"][i].get<std::uint64_t>()] += count;
      total += count;
    }
  }
  if (static_cast<double>(total) * (1 - share) < kMinBeyond) return std::nullopt;
  constexpr double kRounding = 1e-9;
  auto rank = static_cast<std::int64_t>(std::max(1.0, std::ceil(share * static_cast<double>(total) - kRounding)));
  for (const auto& [lower_ns, count] : counts) {
    rank -= static_cast<std::int64_t>(count);
    if (rank > 0) continue;
    constexpr int kBucketBits = 9;
    const int doublings = std::max(0, static_cast<int>(std::bit_width(lower_ns)) - kBucketBits);
    const auto width_ns = std::uint64_t{1} << static_cast<unsigned>(doublings);
    constexpr double kNanosecond_s = 1e-9;
    return (static_cast<double>(lower_ns) + static_cast<double>(width_ns - 1) / 2) * kNanosecond_s;
  }
  return std::nullopt;
}

template <class Json>
bool has_all(const Json& wanted, const auto& params) {
  return std::ranges::all_of(wanted.items(), [&params](const auto& item) {
    return params.contains(item.key()) && params.at(item.key()) == item.value();
  });
}

}  // namespace

double MetricRounds::median() const { return median_of(values); }

std::optional<double> round_value(const OrderedJson& formula, const json& outcome, const std::vector<json>& samples) {
  if (formula.contains("share")) return percentile_s(formula["share"], samples);
  std::vector<double> values;
  for (const json& sample : samples) {
    const double divisor = product(formula["over"], outcome, sample);
    if (divisor != 0) values.push_back(product(formula["times"], outcome, sample) / divisor);
  }
  if (values.empty()) return std::nullopt;
  return median_of(values);
}

void Values::add(const PlannedExperiment& experiment, const json& outcome, const std::vector<json>& samples) {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const OrderedJson& line = lines_[i];
    const json params = json::parse(line["params"].dump());
    if (line["probe"] != experiment.probe || !has_all(line["given"], experiment.params) ||
        !has_all(params, outcome["params"])) {
      continue;
    }
    Candidate& candidate = candidates_[i][experiment.id];
    candidate.params = outcome["params"];
    candidate.is_oversubscribed = outcome["oversubscribed"];
    candidate.is_local = outcome["facts"].value("is_local", 0.0) != 0;
    OrderedJson formulas = line["metrics"];
    for (const OrderedJson& below : line["below"]) {
      for (const OrderedJson& formula : below["metrics"]) formulas.push_back(formula);
    }
    candidate.metrics.resize(formulas.size());
    for (std::size_t k = 0; k < formulas.size(); ++k) {
      const auto value = round_value(formulas[k], outcome, samples);
      if (value) candidate.metrics[k].values.push_back(*value);
      // A round without a value is left out of a quotient; a percentile is then not known.
      if (!value && formulas[k].contains("share")) candidate.metrics[k].is_known = false;
    }
  }
}

void Values::forget(const std::string& id) {
  for (auto& candidates : candidates_) candidates.erase(id);
}

const Candidate* Values::best_of(std::size_t line) const {
  const double direction = lines_[line]["better"] == "higher" ? 1 : -1;
  const auto preference = [direction](const Candidate& candidate) {
    return std::tuple(!candidate.is_oversubscribed, candidate.params.value("threads", 1),
                      direction * candidate.metrics.front().median());
  };
  const Candidate* best = nullptr;
  for (const auto& [id, candidate] : candidates_[line]) {
    if (!candidate.metrics.front().has_value()) continue;
    if (best == nullptr || preference(candidate) > preference(*best)) best = &candidate;
  }
  return best;
}

}  // namespace nameplate
