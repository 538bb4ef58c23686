#include "cluster/node_summary.h"

#include <algorithm>
#include <map>

#include "probe/registry.h"

namespace nameplate {

namespace {

using nlohmann::json;

void add_numbers(json& sum, const json& more) {
  for (const auto& [name, value] : more.items()) {
    if (value.is_number_float() || (sum.contains(name) && sum[name].is_number_float())) {
      sum[name] = sum.value(name, 0.0) + value.get<double>();
    } else {
      sum[name] = sum.value(name, std::int64_t{0}) + value.get<std::int64_t>();
    }
  }
}

// {"lower_ns": […], "count": […]}, both ascending by the former.
void add_histogram(json& sum, const json& more) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const json* each : {&std::as_const(sum), &more}) {
    for (std::size_t i = 0; i < each->at("lower_ns").size(); ++i) {
      counts[each->at("lower_ns")[i].get<std::int64_t>()] += each->at("count")[i].get<std::int64_t>();
    }
  }
  sum = {{"lower_ns", json::array()}, {"count", json::array()}};
  for (const auto& [lower_ns, count] : counts) {
    sum["lower_ns"].push_back(lower_ns);
    sum["count"].push_back(count);
  }
}

void keep_last(json& sum, const json& more, const std::string& probe) {
  for (const Counter& counter : find_probe(probe).info.counters) {
    if (counter.combine == Combine::last) sum[counter.name] = more.at(counter.name);
  }
}

}  // namespace

void NodeSummary::write(const json& record) {
  if (record.at("type") == "sample") {
    add(record);
    return;
  }
  outcome_ = record;
  outcome_["node"] = node_;
  if (sum_.is_null()) return;
  sum_["disturbed"]["burst_s"] = sum_["disturbed"]["burst_s"].get<double>() / samples_;
  keep_last(sum_["counters"], last_counters_, record.at("probe"));
}

void NodeSummary::add(const json& sample) {
  ++samples_;
  last_counters_ = sample.at("counters");
  if (sum_.is_null()) {
    sum_ = sample;
    sum_["node"] = node_;
    sum_.erase("workers");
    return;
  }
  sum_["elapsed_s"] = sum_["elapsed_s"].get<double>() + sample.at("elapsed_s").get<double>();
  sum_["repetitions"] = sum_["repetitions"].get<std::uint64_t>() + sample.at("repetitions").get<std::uint64_t>();
  for (const char* part : {"work", "counters", "disturbed"}) add_numbers(sum_[part], sample.at(part));
  if (sum_.contains("histogram")) add_histogram(sum_["histogram"], sample.at("histogram"));
}

json NodeSummary::records() const {
  json result = json::array();
  if (!sum_.is_null()) result.push_back(sum_);
  result.push_back(outcome_);
  return result;
}

json outcome_of_all(const std::vector<json>& outcomes) {
  const auto measured = std::ranges::find(outcomes, "ok", [](const json& outcome) { return outcome.at("ending"); });
  json result = measured == outcomes.end() ? outcomes.front() : *measured;
  result.erase("node");
  result["samples"] = 0;
  for (const json& outcome : outcomes) {
    result["samples"] = result["samples"].get<std::int64_t>() + outcome.at("samples").get<std::int64_t>();
  }
  return result;
}

}  // namespace nameplate
