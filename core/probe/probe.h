// What every probe is: a static ProbeInfo and five steps. The sampler (measure/sampler.h) calls them in this order:
//   setup, { prepare, run } again and again, verify, teardown.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probe/parameter.h"
#include "record/histogram.h"
#include "record/node_times.h"
#include "record/worker.h"

namespace nameplate {

struct Machine;

// How a counter combines when one sample is made of several calls of `run` (in a series).
enum class Combine { sum, last };

// A named number that a probe adds to every sample.
struct Counter {
  std::string name;
  std::string unit;
  std::string summary;
  Combine combine = Combine::sum;
};

// A named number that set-up found out and that holds for the whole experiment.
struct Fact {
  std::string name;
  std::string unit;
  std::string summary;
};

struct ProbeInfo {
  std::string name;
  std::string summary;
  std::vector<Parameter> parameters;
  std::vector<Counter> counters;
  std::vector<Fact> facts;
  std::vector<std::string> needs;  // what the machine must have, in words ("an MPI launcher")
  bool reports_workers = false;    // whether every sample carries each worker's own times and work
};

// Values by the fact's name.
using Facts = std::map<std::string, double>;

// What set-up decided: the parameters with every automatic one resolved, and a value for each declared fact.
struct Prepared {
  Parameters resolved;
  Facts facts = {};
  std::optional<std::uint64_t> repetitions = {};  // of every sample, where they are given and not calibrated
  // A sample must not have more, because `prepare` makes ready for no more; such an experiment cannot be a series.
  std::optional<std::uint64_t> most_repetitions = {};
  // To be taken, whatever time that takes, where they are given and the slice does not decide.
  std::optional<std::uint64_t> samples = {};
  // Timed one after the other in each call of `run`: each is to last as long as another probe's sample.
  std::uint64_t batches = 1;
  // The probe's own threads elsewhere take turns with its workers: it is oversubscribed, whatever `threads` says.
  bool shares_cpus = false;
  std::map<std::string, std::string> labels = {};  // what is known in words: {"filesystem", "ext4"}
};

// What one call of `run` did. The spans belong to the probe and stay valid until its next call.
struct Work {
  std::uint64_t bytes = 0;
  std::uint64_t flops = 0;
  std::uint64_t ops = 0;
  std::span<const Worker> workers;        // start and finish of each worker; elapsed is last finish - first start
  std::span<const double> counters = {};  // in the order of ProbeInfo::counters
  const Histogram* histogram = nullptr;   // of single operations, where latencies are wanted
  std::span<const NodeTimes> nodes = {};  // of a cluster's nodes, in the order of the workers
  // Between all pairs of nodes or ranks: one-way seconds of a message, in the order of pair_index
  // (cluster/tournament.h).
  std::span<const double> pairs = {};
};

class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  Probe(Probe&&) = delete;
  Probe& operator=(Probe&&) = delete;
  virtual ~Probe() = default;

  // Allocates, pins, touches first, connects, creates files. May `refuse` (probe/error.h) with a reason.
  virtual Prepared setup(const Parameters& parameters, const Machine& machine) = 0;
  // Before each sample, untimed: a cold cache, fresh buffers.
  virtual void prepare() {}
  // The timed region, its own loop inside: no exception, allocation, lock, logging or virtual call per operation.
  virtual Work run(std::uint64_t repetitions) = 0;
  // Did the kernel really compute that? Calls `wrong_result` (probe/error.h) if not.
  virtual void verify() {}
  // On every path out, also after a failed set-up.
  virtual void teardown() {}
};

nlohmann::json to_json(const ProbeInfo& info);

}  // namespace nameplate
