// A node's records of one experiment, made small before they leave it: all its samples as one.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "record/writer.h"

namespace nameplate {

// Adds up the samples of one experiment as they are written. What one sample's rate is, all work over all time, is the
// sum's as well.
class NodeSummary final : public RecordSink {
 public:
  explicit NodeSummary(int node) : node_(node) {}

  void write(const nlohmann::json& record) override;

  // The sum of all samples, where there were any, and the outcome, each with the node's place in the job's list.
  nlohmann::json records() const;

 private:
  void add(const nlohmann::json& sample);

  int node_;
  nlohmann::json sum_;
  nlohmann::json outcome_;
  nlohmann::json last_counters_;
  double samples_ = 0;
};

// What an experiment's outcome is where each node had its own: ok where any could measure, else the first one's.
nlohmann::json outcome_of_all(const std::vector<nlohmann::json>& outcomes);

}  // namespace nameplate
