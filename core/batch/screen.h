// Prints the first screen of `nameplate-core quick`: that of the Python package, without reference values.
#pragma once

#include <string>
#include <vector>

#include "batch/values.h"
#include "machine/machine.h"

namespace nameplate {

// Returns numbers with three significant digits and one unit, such as "116 GFLOP/s" or "0.631/2.83 ms"; a number that
// is not known is "–". `unit` is an SI base unit, "bit/s" or "IOPS".
std::string brief(const std::vector<std::optional<double>>& numbers, const std::string& unit);

// Returns the machine in a line, such as "node03 · EPYC 7543, 32 cores, 251.4 GiB, kvm guest".
std::string machine_line(const Machine& machine);

// Returns the table: a heading, and a line for each line of the plan that has a value.
std::vector<std::string> value_lines(const OrderedJson& lines, const Values& values);

}  // namespace nameplate
