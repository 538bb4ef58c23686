#include "quick/values.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "quick/statistics.h"

namespace nameplate {

namespace {

using nlohmann::json;

// Returns the number at a place such as "sample/work/ops".
double number_at(const std::string& place, const json& outcome, const json& sample) {
  const auto slash = place.find('/');
  const json& record = place.compare(0, slash, "sample") == 0 ? sample : outcome;
  return record.at(json::json_pointer(place.substr(slash)));
}

double sum(const OrderedJson& products, const json& outcome, const json& sample) {
  double result = 0;
  for (const auto& product : products) {
    double summand = 1;
    for (const auto& place : product["times"]) summand *= number_at(place, outcome, sample);
    for (const auto& place : product["over"]) summand /= number_at(place, outcome, sample);
    result += summand;
  }
  return result;
}

std::vector<Bucket> buckets_of(const std::vector<json>& samples) {
  std::vector<Bucket> result;
  for (const json& sample : samples) {
    if (!sample.contains("histogram")) continue;
    const json& histogram = sample["histogram"];
    for (std::size_t i = 0; i < histogram["count"].size(); ++i) {
      result.emplace_back(histogram["lower_ns"][i].get<std::uint64_t>(), histogram["count"][i].get<std::uint64_t>());
    }
  }
  return result;
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
  if (formula.contains("share")) return TimedOperations(buckets_of(samples)).percentile_s(formula["share"]);
  std::vector<double> values;
  for (const json& sample : samples) {
    const double divisor = sum(formula["denominator"], outcome, sample);
    if (divisor != 0) values.push_back(sum(formula["numerator"], outcome, sample) / divisor);
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
