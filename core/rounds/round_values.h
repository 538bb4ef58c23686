// Run files with the values of each round in place of its samples, for a reader of many runs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/writer.h"
#include "rounds/formulas.h"

namespace nameplate {

// The formulas of a probe's metrics, by the name of the probe.
using FormulasByProbe = std::map<std::string, std::vector<Formula>, std::less<>>;

// Appends to `result` the text of a run file in which the samples of each round of an experiment are replaced by a
// record of type 'values' with the values of the metrics, false for one that cannot be computed. Records of type
// 'ranges' at the end have a sample with the lowest and one with the highest of each of their numbers in all rounds.
// Digests are left out, and so is a last line without a newline; all other lines are kept as they are. Samples are also
// kept if their probe is not in `formulas`, if they differ in more than numbers, or if anything about them is unusual.
void append_with_round_values(std::string_view text, const FormulasByProbe& formulas, std::string& result);

// Prints run files in this form, for a request {"formulas": {PROBE: [formula, ...]}, "files": [path, ...]}: for each
// file a line with the size of its text in bytes, and the text; the line is -1 if the file cannot be read, or is not a
// regular one of at most 1 GiB. Throws ProbeError for anything but such a request.
void print_round_values(const std::string& request, const RecordWriter& writer);

}  // namespace nameplate
