// Runs a single-machine probe on the nodes of a job, in turn or all at once: each node's first rank runs the whole
// experiment, and the leading rank writes the results, one record per node.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/machine.h"
#include "probe/context.h"
#include "record/writer.h"

namespace nameplate {

// On the leading rank. `request` is a line of standard input that names nodes. Throws ProbeError(failed) if a node does
// not exist, or the probe uses the job as a whole.
void measure_per_node(Context& context, const nlohmann::json& request, const Machine& machine, RecordSink& sink);

// On every other rank, after the leading rank has announced it.
void follow_per_node(Context& context, const Machine& machine);

}  // namespace nameplate
