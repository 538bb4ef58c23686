// Measures the plan `quick`, or one of a request file, without Python: the records of a run file on standard output,
// for people a table on standard error.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "net/secret.h"

namespace nameplate {

struct BatchOptions {
  std::string plan;                       // the text of a request file; empty for the plan `quick`
  std::optional<int> rounds;              // all of them are measured, however long they take
  std::optional<double> budget_s;         // without `rounds`, after the first round; by default that of the plan
  std::vector<std::string> core_options;  // of the processes that measure
  SecretText key;                         // that those share with the peer; empty without one
};

// Returns the exit code: 0, or 3 if something failed, a result was wrong, or the run was interrupted. SIGINT and
// SIGTERM must have handlers that set `stop_requested`; they are blocked but for waits. Throws ProbeError if the plan
// is not one.
int measure_batch(const BatchOptions& options, const std::atomic<bool>& stop_requested);

}  // namespace nameplate
