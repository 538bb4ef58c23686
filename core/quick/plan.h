// The plan and the screen of `nameplate-core quick`, which are those of the plan `quick` of the Python package.
#pragma once

#include <nlohmann/json.hpp>
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
  OrderedJson record;  // as in the plan of a run file
};

struct QuickPlan {
  OrderedJson record;  // as in a run file, but for its experiments
  std::vector<PlannedExperiment> experiments;
  OrderedJson lines;  // of the screen
  double budget_s = 0;
  double warmup_s = 0;
};

// Returns the values of `name` on this machine, as src/nameplate/planning/stand_ins.py defines them. Throws ProbeError
// for an unknown name.
std::vector<std::int64_t> values_of_machine(const std::string& name, const Machine& machine);

// Returns the plan with the values of this machine.
QuickPlan quick_plan(const Machine& machine);

}  // namespace nameplate
