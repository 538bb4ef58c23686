#include "quick/plan.h"

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
  for (const auto& [name, value] : experiment["params"].items()) {
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

QuickPlan quick_plan(const Machine& machine) {
  const OrderedJson text = OrderedJson::parse(kQuickPlan);
  QuickPlan plan{.record = text["plan"], .experiments = {}, .lines = text["lines"]};
  plan.budget_s = plan.record["limits"]["budget_s"];
  plan.warmup_s = plan.record["limits"]["warmup_s"];
  std::size_t index = 0;
  for (const OrderedJson& declared : text["plan"]["experiments"]) {
    const double longest_setup_s = text["longest_setup_s"][index++];
    for (const OrderedJson& one : resolved(declared, machine)) {
      // A value of the machine may be one that the plan has already, such as a single thread.
      const auto id = one["id"].get<std::string>();
      if (std::ranges::find(plan.experiments, id, &PlannedExperiment::id) != plan.experiments.end()) continue;
      plan.experiments.push_back({id, one["probe"], one["params"], one["slice_s"], longest_setup_s, one});
    }
  }
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

}  // namespace nameplate
