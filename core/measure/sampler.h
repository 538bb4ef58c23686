// Takes one probe through one experiment: set-up, warm-up, calibration, samples until the slice is over, verification.
// It decides nothing else: rounds, precision and statistics are Python's.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "machine/disturbance.h"
#include "machine/machine.h"
#include "machine/temperature.h"
#include "probe/context.h"
#include "probe/registry.h"
#include "record/writer.h"

namespace nameplate {

// One line of standard input. Durations in seconds.
struct Request {
  std::string id;  // given back in every record of this experiment
  std::string probe;
  nlohmann::json params = nlohmann::json::object();
  double slice_s = 0.25;  // how long samples are taken
  double warmup_s = 0.02;
  double sample_s = 0.01;  // how long one sample lasts at least
  std::optional<std::uint64_t> max_samples;
  std::optional<std::uint64_t> repetitions;  // fixed instead of calibrated
  std::optional<double> interval_s;          // a series: one sample per interval, without a gap
  // Of an MPI job, by their places in the header's list: each of these nodes takes the experiment by itself, one after
  // the other in this order, or all at once. None: the job as a whole does.
  std::vector<int> nodes;
  bool at_once = false;
};

// Throws ProbeError(failed) for a line that is not a request.
Request parse_request(const std::string& line);

class Sampler {
 public:
  Sampler(Context& context, const Machine& machine, const Root& root, RecordSink& writer)
      : context_(context), machine_(machine), disturbance_(root, machine.limits), thermometer_(root), writer_(writer) {}

  // Writes the experiment's samples and its outcome. Throws only what the writer throws.
  void run(const Request& request) const;

 private:
  Context& context_;
  const Machine& machine_;
  DisturbanceReader disturbance_;
  Thermometer thermometer_;
  RecordSink& writer_;
};

}  // namespace nameplate
