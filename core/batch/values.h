// The values of the screen: of each line the metrics of its experiments, one value for each round.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "batch/plan.h"
#include "batch/statistics.h"

namespace nameplate {

// A metric in the rounds of an experiment: a quotient, or a percentile of the operations of all rounds together.
class MetricRounds {
 public:
  // `formula` is what formula_of() in src/nameplate/probes/shared/formulas.py returns.
  explicit MetricRounds(OrderedJson formula) : formula_(std::move(formula)) {}

  void add(const nlohmann::json& outcome, const std::vector<nlohmann::json>& samples);

  // Returns the median of the rounds, or the percentile; nothing if no round has a value, or too few operations.
  std::optional<double> typical() const;
  // The values of a quotient in the rounds that have one.
  const std::vector<double>& values() const { return values_; }

 private:
  OrderedJson formula_;
  std::vector<double> values_;
  TimedOperations operations_;
};

// An experiment that a line of the screen may show, with the metrics of the line and of those below it, in this order.
struct Candidate {
  nlohmann::json params;  // complete
  bool is_oversubscribed = false;
  bool is_local = false;  // of a network probe: both ends are on this machine
  std::vector<MetricRounds> metrics;
};

class Values {
 public:
  // `lines` are those of the plan.
  explicit Values(const OrderedJson& lines) : lines_(lines), candidates_(lines.size()) {}

  // Adds a round of an experiment that ended with `outcome`, which must be "ok".
  void add(const PlannedExperiment& experiment, const nlohmann::json& outcome,
           const std::vector<nlohmann::json>& samples);

  // Drops what was added for an experiment.
  void forget(const std::string& id);

  // Returns what a line shows: of several experiments that with a CPU for each thread, then that with the most threads,
  // then the best value. Null if there is none.
  const Candidate* best_of(std::size_t line) const;

 private:
  const OrderedJson& lines_;
  std::vector<std::map<std::string, Candidate>> candidates_;  // by line and experiment
};

}  // namespace nameplate
