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

// Lines of JSON. They are apart, so that no line of a run file can be taken for a value.
struct RoundTexts {
  std::string kept;    // lines of the run file as they are
  std::string values;  // what replaces the others
};

// Replaces the samples of a run file. For those of a round of an experiment, `values` has a record of type 'values':
// the number of the line of `kept` that is their outcome, counted from 1, and the values of the metrics, false for one
// that cannot be computed. For all samples of an experiment it has a record of type 'ranges': a sample with the lowest
// and one with the highest of each of their numbers. Digests are left out, and so is a last line without a newline; all
// other lines are kept. Samples are also kept if their probe is not in `formulas`, if they differ in more than numbers,
// or if anything about them is unusual, such as a long line: the memory that is taken is at most a few times the size
// of the text. Returns false if a line is longer than any record. The memory of `result` is reused.
bool replace_samples(std::string_view text, const FormulasByProbe& formulas, RoundTexts& result);

// Prints run files in this form, for a request {"formulas": {PROBE: [formula, ...]}, "files": [path, ...]}: for each
// file a line with the sizes of its two texts in bytes, such as "12 34", and the texts; the line is empty if the file
// cannot be read, is not a regular one of at most 1 GiB, or has a line longer than any record. Throws ProbeError for
// anything but such a request.
void print_round_values(const std::string& request, const RecordWriter& writer);

}  // namespace nameplate
