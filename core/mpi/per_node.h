// A single machine's probe on the nodes of a job, one after the other or all at once: each node's first rank takes the
// whole experiment by itself, and the leading rank writes what they found, one record a node.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/machine.h"
#include "probe/context.h"
#include "record/writer.h"

namespace nameplate {

// On the leading rank. `request` is a line of standard input that names nodes. Throws ProbeError(failed) for a node
// that the job has not, and for a probe that takes the job as a whole.
void measure_per_node(Context& context, const nlohmann::json& request, const Machine& machine, RecordSink& sink);

// On every other one, once the leading rank has told that nodes are measured.
void follow_per_node(Context& context, const Machine& machine);

}  // namespace nameplate
