// A plan that the core measures alone: that of `nameplate-core quick`, which is the plan `quick` of the Python package,
// or that of a request file, which the Python package wrote (src/nameplate/planning/request_file.py).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace nameplate {

// JSON text made by cmake/core_plan.py, with values of the machine as names in braces.
extern const char* const kQuickPlan;

// Objects keep the order of their keys, in which the parameters of an experiment are named.
using OrderedJson = nlohmann::ordered_json;

struct PlannedExperiment {
  std::string id;
  std::string probe;
  OrderedJson params;  // as the plan gives them, without defaults
  double slice_s = 0;
  double longest_setup_s = 0;
  std::optional<double> sample_s;
  std::optional<double> interval_s;  // of a series
  bool is_measured_once = false;     // a series of the plan: in one round only
  OrderedJson record;                // as in the plan of a run file
};

struct BatchPlan {
  OrderedJson record;  // as in a run file, but for its experiments
  std::vector<PlannedExperiment> experiments;
  OrderedJson lines;  // of the screen
  double budget_s = 0;
  double warmup_s = 0;
  std::optional<int> rounds;
  std::optional<int> max_samples;
  bool budget_binds = false;  // with fixed rounds
  std::optional<std::uint64_t> seed;

  // Sets the number of rounds or the budget, also in the record.
  void set_rounds(int number);
  void set_budget(double seconds);
};

// Returns the values of `name` on this machine, as src/nameplate/planning/stand_ins.py defines them. Throws ProbeError
// for an unknown name.
std::vector<std::int64_t> values_of_machine(const std::string& name, const Machine& machine);

// Returns the plan with the values of this machine. Throws ProbeError if `text` is not a plan with at least one
// experiment.
BatchPlan plan_of(const std::string& text, const Machine& machine);

}  // namespace nameplate
