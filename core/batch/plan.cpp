#include "batch/plan.h"

#include <algorithm>

#include "probe/error.h"

namespace nameplate {

namespace {

constexpr std::int64_t kBeyondCaches = 4;  // STREAM's rule
constexpr std::int64_t kSmallestBeyond = std::int64_t{128} << 20U;

// Returns the caches of the last level.
std::vector<Cache> last_level(const Topology& topology) {
  std::vector<Cache> caches;
  std::ranges::copy_if(topology.caches, std::back_inserter(caches),
                       [](const Cache& cache) { return cache.type != "instruction"; });
  int last = 0;
  for (const Cache& cache : caches) last = std::max(last, cache.level);
  std::erase_if(caches, [last](const Cache& cache) { return cache.level != last; });
  return caches;
}

bool is_name(const OrderedJson& value) {
  return value.is_string() && value.get_ref<const std::string&>().starts_with('{');
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  if (const auto at = text.find(part); at != std::string::npos) text.replace(at, part.size(), by);
  return text;
}

// Replaces the first name among the parameters by each of its values, and then the others.
std::vector<OrderedJson> resolved(const OrderedJson& experiment, const Machine& machine) {
  for (const auto& [name, value] : experiment.at("params").items()) {
    if (!is_name(value)) continue;
    std::vector<OrderedJson> result;
    const auto braced = value.get<std::string>();
    for (const std::int64_t number : values_of_machine(braced.substr(1, braced.size() - 2), machine)) {
      OrderedJson one = experiment;
      one["params"][name] = number;
      one["id"] = replaced(one["id"], braced, std::to_string(number));
      std::ranges::copy(resolved(one, machine), std::back_inserter(result));
    }
    return result;
  }
  return {experiment};
}

// Returns nothing for null, and if there is no such key.
template <class T>
std::optional<T> optional_of(const OrderedJson& object, const char* key) {
  const auto entry = object.find(key);
  return entry == object.end() || entry->is_null() ? std::nullopt : std::optional<T>(entry->get<T>());
}

// The values of the plan as a whole. Throws OrderedJson::exception for missing or wrong ones.
BatchPlan plan_without_experiments(const OrderedJson& text) {
  const OrderedJson& limits = text.at("plan").at("limits");
  return {.record = text.at("plan"),
          .experiments = {},
          .lines = text.value("lines", OrderedJson::array()),
          .budget_s = limits.at("budget_s").get<double>(),
          .warmup_s = limits.at("warmup_s").get<double>(),
          .rounds = optional_of<int>(limits, "rounds"),
          .max_samples = optional_of<int>(limits, "samples"),
          .budget_binds = limits.value("budget_binds", false),
          .seed = optional_of<std::uint64_t>(text, "seed")};
}

// Throws ProbeError for a plan that would never begin or end.
void check_possible(const BatchPlan& plan) {
  if (plan.experiments.empty()) fail("the request file has no experiment");
  if (!(plan.budget_s > 0) || plan.rounds.value_or(1) < 1 || plan.max_samples.value_or(1) < 1) {
    fail("the request file has a budget, rounds or samples of 0 or less");
  }
  for (const PlannedExperiment& experiment : plan.experiments) {
    if (!(experiment.slice_s > 0)) fail("the request file has a slice of 0 s or less: " + experiment.id);
    if (!experiment.params.is_object()) fail("the request file has parameters without names: " + experiment.id);
  }
}

BatchPlan parsed_plan(const OrderedJson& text, const Machine& machine) {
  BatchPlan plan = plan_without_experiments(text);
  const OrderedJson limits = plan.record["limits"];
  std::size_t index = 0;
  for (const OrderedJson& declared : text.at("plan").at("experiments")) {
    const auto longest_setup_s = text.at("longest_setup_s").at(index++).get<double>();
    for (const OrderedJson& one : resolved(declared, machine)) {
      // A value of the machine may be one that the plan has already, such as a single thread.
      const auto id = one.at("id").get<std::string>();
      if (std::ranges::find(plan.experiments, id, &PlannedExperiment::id) != plan.experiments.end()) continue;
      auto sample_s = optional_of<double>(limits, "sample_s");
      const auto interval_s = optional_of<double>(one, "interval_s");
      if (!sample_s) sample_s = optional_of<double>(one, "sample_s");
      plan.experiments.push_back({.id = id,
                                  .probe = one.at("probe").get<std::string>(),
                                  .params = one.at("params"),
                                  .slice_s = one.at("slice_s").get<double>(),
                                  .longest_setup_s = longest_setup_s,
                                  .sample_s = sample_s,
                                  .interval_s = interval_s ? interval_s : optional_of<double>(limits, "interval_s"),
                                  .is_measured_once = interval_s.has_value(),
                                  .record = one});
    }
  }
  check_possible(plan);
  plan.record["experiments"] = OrderedJson::array();
  for (const PlannedExperiment& experiment : plan.experiments) plan.record["experiments"].push_back(experiment.record);
  for (OrderedJson& line : plan.lines) {
    for (const auto& [name, value] : line["given"].items()) {
      if (!is_name(value)) continue;
      const auto braced = value.get<std::string>();
      value = values_of_machine(braced.substr(1, braced.size() - 2), machine).back();
    }
  }
  return plan;
}

}  // namespace

std::vector<std::int64_t> values_of_machine(const std::string& name, const Machine& machine) {
  const auto cores = static_cast<std::int64_t>(machine.topology.allowed.cores);
  if (name == "hardware_threads") return {static_cast<std::int64_t>(machine.topology.allowed.cpus.size())};
  if (name == "in_caches") {
    std::vector<std::int64_t> parts = {std::int64_t{16} << 10U, std::int64_t{256} << 10U, std::int64_t{2} << 20U};
    for (std::int64_t& part : parts) part *= cores;
    return parts;
  }
  std::int64_t all = 0;
  std::int64_t one = 0;
  for (const Cache& cache : last_level(machine.topology)) {
    all += cache.size_bytes * cache.count;
    one = std::max(one, cache.size_bytes);
  }
  if (name == "beyond") return {std::max(kBeyondCaches * all, kSmallestBeyond)};
  if (name == "beyond_one") return {std::max(kBeyondCaches * one, kSmallestBeyond)};
  fail("the plan has an unknown value of the machine: " + name);
}

void BatchPlan::set_rounds(int number) {
  rounds = number;
  record["limits"]["rounds"] = number;
}

void BatchPlan::set_budget(double seconds) {
  budget_s = seconds;
  record["limits"]["budget_s"] = seconds;
}

BatchPlan plan_of(const std::string& text, const Machine& machine) {
  try {
    return parsed_plan(OrderedJson::parse(text), machine);
  } catch (const OrderedJson::exception& error) {
    fail(std::string("not a request file: ") + error.what());
  }
}

}  // namespace nameplate
