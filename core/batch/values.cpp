#include "batch/values.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "batch/statistics.h"

namespace nameplate {

namespace {

using nlohmann::json;

// Returns the number at a location such as "sample/work/ops".
double number_at(const std::string& location, const json& outcome, const json& sample) {
  const auto slash = location.find('/');
  const json& record = location.compare(0, slash, "sample") == 0 ? sample : outcome;
  return record.at(json::json_pointer(location.substr(slash)));
}

double sum(const OrderedJson& products, const json& outcome, const json& sample) {
  double result = 0;
  for (const auto& product : products) {
    double summand = 1;
    for (const auto& location : product["times"]) summand *= number_at(location, outcome, sample);
    for (const auto& location : product["over"]) summand /= number_at(location, outcome, sample);
    result += summand;
  }
  return result;
}

template <class Json>
bool has_all(const Json& required, const auto& params) {
  return std::ranges::all_of(required.items(), [&params](const auto& item) {
    return params.contains(item.key()) && params.at(item.key()) == item.value();
  });
}

}  // namespace

void MetricRounds::add(const json& outcome, const std::vector<json>& samples) {
  std::vector<double> quotients;
  for (const json& sample : samples) {
    if (formula_.contains("share")) {
      if (!sample.contains("histogram")) continue;
      const json& histogram = sample["histogram"];
      for (std::size_t i = 0; i < histogram["count"].size(); ++i) {
        operations_.add({histogram["lower_ns"][i].get<std::uint64_t>(), histogram["count"][i].get<std::uint64_t>()});
      }
    } else if (const double divisor = sum(formula_["denominator"], outcome, sample); divisor != 0) {
      quotients.push_back(sum(formula_["numerator"], outcome, sample) / divisor);
    }
  }
  if (!quotients.empty()) values_.push_back(median_of(quotients));
}

std::optional<double> MetricRounds::typical() const {
  if (formula_.contains("share")) return operations_.percentile_s(formula_["share"]);
  if (values_.empty()) return std::nullopt;
  return median_of(values_);
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
    for (std::size_t k = 0; k < formulas.size(); ++k) {
      if (k == candidate.metrics.size()) candidate.metrics.emplace_back(formulas[k]);
      candidate.metrics[k].add(outcome, samples);
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
                      direction * candidate.metrics.front().typical().value_or(0));
  };
  const Candidate* best = nullptr;
  for (const auto& [id, candidate] : candidates_[line]) {
    if (!candidate.metrics.front().typical()) continue;
    if (best == nullptr || preference(candidate) > preference(*best)) best = &candidate;
  }
  return best;
}

}  // namespace nameplate
