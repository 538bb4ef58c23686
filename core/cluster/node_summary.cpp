#include "cluster/node_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "probe/registry.h"
#include "record/histogram.h"

namespace nameplate {

namespace {

using nlohmann::json;

// The histograms that a sample may have.
constexpr std::array<const char*, 3> kHistograms = {"histogram", "read_histogram", "write_histogram"};
// Keeps a node's records below about 4 KiB for each histogram; a smooth distribution ends up with half as many.
constexpr std::size_t kMaxBuckets = 180;

void add_numbers(json& sum, const json& more) {
  for (const auto& [name, value] : more.items()) {
    if (value.is_number_float() || (sum.contains(name) && sum[name].is_number_float())) {
      sum[name] = sum.value(name, 0.0) + value.get<double>();
    } else {
      sum[name] = sum.value(name, std::int64_t{0}) + value.get<std::int64_t>();
    }
  }
}

// {"lower_ns": […], "count": […]}, both in ascending order of lower_ns.
void add_histogram(json& sum, const json& more) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const json* histogram : {&std::as_const(sum), &more}) {
    for (std::size_t i = 0; i < histogram->at("lower_ns").size(); ++i) {
      counts[histogram->at("lower_ns")[i].get<std::int64_t>()] += histogram->at("count")[i].get<std::int64_t>();
    }
  }
  sum = {{"lower_ns", json::array()}, {"count", json::array()}};
  for (const auto& [lower_ns, count] : counts) {
    sum["lower_ns"].push_back(lower_ns);
    sum["count"].push_back(count);
  }
}

// Reduces the buckets as a t-digest does (Dunning and Ertl, "Computing extremely accurate quantiles using t-digests",
// 2019, scale function k1): neighbours are merged if together they hold a small share of all operations, a smaller one
// towards both ends. The minimum and the maximum are kept. A merged bucket is placed at its mean.
json compressed(const json& histogram) {
  const std::size_t buckets = histogram.at("lower_ns").size();
  if (buckets <= kMaxBuckets) return histogram;
  double all = 0;
  for (const json& count : histogram.at("count")) all += count.get<double>();
  const auto scale = [&](double below) {
    return kMaxBuckets / 2.0 * std::asin(2 * below / all - 1) / std::numbers::pi;
  };
  json lower_ns = json::array();
  json counts = json::array();
  double below = 0;
  std::int64_t count = 0;
  double weighted_ns = 0;
  const auto close_group = [&] {
    lower_ns.push_back(
        Histogram::lower_bound(Histogram::index(static_cast<std::uint64_t>(weighted_ns / static_cast<double>(count)))));
    counts.push_back(count);
    below += static_cast<double>(count);
    count = 0;
    weighted_ns = 0;
  };
  for (std::size_t i = 0; i < buckets; ++i) {
    const auto more = histogram.at("count")[i].get<std::int64_t>();
    const bool is_end = i <= 1 || i + 1 == buckets;
    if (count > 0 && (is_end || scale(below + static_cast<double>(count + more)) - scale(below) > 1)) close_group();
    count += more;
    weighted_ns += histogram.at("lower_ns")[i].get<double>() * static_cast<double>(more);
  }
  close_group();
  return {{"lower_ns", lower_ns}, {"count", counts}};
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
  for (const char* name : kHistograms) {
    if (sum_.contains(name)) add_histogram(sum_[name], sample.at(name));
  }
}

json NodeSummary::records() const {
  json result = json::array();
  if (!sum_.is_null()) {
    result.push_back(sum_);
    for (const char* name : kHistograms) {
      if (sum_.contains(name)) result.back()[name] = compressed(sum_[name]);
    }
  }
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
