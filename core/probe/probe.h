// The interface of every probe: a static ProbeInfo and five steps. The sampler (measure/sampler.h) calls them in this
// order: setup, { prepare, run } repeatedly, verify, teardown.
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

// How a counter is combined if one sample consists of several calls of `run` (in a series).
enum class Combine { sum, last };

// A named number that a probe adds to every sample.
struct Counter {
  std::string name;
  std::string unit;
  std::string summary;
  Combine combine = Combine::sum;
};

// A named number that set-up determines and that holds for the whole experiment.
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
  bool reports_workers = false;    // whether every sample has each worker's own times and work
};

// Values by the fact's name.
using Facts = std::map<std::string, double>;

// The results of set-up: the parameters with every automatic one resolved, and a value for each declared fact.
struct Prepared {
  Parameters resolved;
  Facts facts = {};
  std::optional<std::uint64_t> repetitions = {};  // of every sample, if fixed and not calibrated
  // A sample must not have more, because `prepare` prepares no more; such an experiment cannot be a series.
  std::optional<std::uint64_t> max_repetitions = {};
  // The number of samples to take regardless of the slice, if fixed.
  std::optional<std::uint64_t> samples = {};
  // Each call of `run` begins with untimed work like the timed one, so no call before the first sample warms up.
  bool warms_up = false;
  // Timed one after the other in each call of `run`; each should last as long as another probe's sample.
  std::uint64_t batches = 1;
  // The probe's own threads elsewhere compete with its workers, so it is oversubscribed whatever `threads` says.
  bool shares_cpus = false;
  std::map<std::string, std::string> labels = {};  // facts in words: {"filesystem", "ext4"}
};

// The result of one call of `run`. The spans belong to the probe and stay valid until its next call.
struct Work {
  std::uint64_t bytes = 0;
  std::uint64_t flops = 0;
  std::uint64_t ops = 0;
  std::span<const Worker> workers;        // start and finish of each worker; elapsed is last finish - first start
  std::span<const double> counters = {};  // in the order of ProbeInfo::counters
  const Histogram* histogram = nullptr;   // of single operations, if latencies are wanted
  // Of the reads and of the writes in it, if both occur.
  const Histogram* read_histogram = nullptr;
  const Histogram* write_histogram = nullptr;
  std::span<const NodeTimes> nodes = {};  // of a cluster's nodes, in the order of the workers
  // A value above 0 of each pair of parties, such as the seconds of a message, or NaN for a pair without one. The order
  // is that of the probe's PairMatrix in Python: row by row of the upper triangle (0-1, 0-2, ..., 1-2, ...; pair_index
  // in cluster/tournament.h), of all but the diagonal, or of the square. Several calls are averaged by repetitions.
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
  // Called before each sample, untimed: a cold cache, fresh buffers.
  virtual void prepare() {}
  // The timed region, with its own loop inside: no exception, allocation, lock, logging or virtual call per operation.
  virtual Work run(std::uint64_t repetitions) = 0;
  // Checks what the kernel computed. Calls `wrong_result` (probe/error.h) if it is wrong.
  virtual void verify() {}
  // Called on every path out, also after a failed set-up.
  virtual void teardown() {}
};

nlohmann::json to_json(const ProbeInfo& info);

}  // namespace nameplate
