// Reduces a node's records of one experiment before they leave the node: all samples become one.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "record/writer.h"

namespace nameplate {

// Adds up the samples of one experiment as they are written. The sum has the same rate as a sample: all work over all
// time.
class NodeSummary final : public RecordSink {
 public:
  explicit NodeSummary(int node) : node_(node) {}

  void write(const nlohmann::json& record) override;

  // Returns the sum of all samples, if there were any, and the outcome, each with the node's index in the job.
  nlohmann::json records() const;

 private:
  void add(const nlohmann::json& sample);

  int node_;
  nlohmann::json sum_;
  nlohmann::json outcome_;
  nlohmann::json last_counters_;
  double samples_ = 0;
};

// Returns the outcome of an experiment in which each node has its own: ok if any node succeeded, else the first one's.
nlohmann::json outcome_of_all(const std::vector<nlohmann::json>& outcomes);

}  // namespace nameplate
