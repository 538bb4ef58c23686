// The time of day, for the head of a run file; it jumps when it is set, so that nothing is timed by it.
#pragma once

#include <string>

namespace nameplate {

// Returns the date and time now in ISO 8601, in UTC: 2026-01-31T12:00:00+00:00.
std::string moment_now();

}  // namespace nameplate
