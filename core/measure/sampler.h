// Runs one experiment of a probe: set-up, warm-up, calibration, samples until the slice is over, verification. It
// decides nothing else: Python decides rounds, precision and statistics.
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
  std::string id;  // repeated in every record of this experiment
  std::string probe;
  nlohmann::json params = nlohmann::json::object();
  double slice_s = 0.25;  // the time for samples
  double warmup_s = 0.02;
  double sample_s = 0.01;  // minimum length of one sample
  std::optional<std::uint64_t> max_samples;
  std::optional<std::uint64_t> repetitions;  // fixed instead of calibrated
  std::optional<double> interval_s;          // a series: one sample per interval, without gaps
  // For an MPI job, indices into the header's list: each of these nodes runs the experiment alone, in turn, or all at
  // once. Empty: the job runs it as a whole.
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
  void run(const Request& request);

 private:
  Context& context_;
  const Machine& machine_;
  DisturbanceReader disturbance_;
  Thermometer thermometer_;
  RecordSink& writer_;
};

}  // namespace nameplate
