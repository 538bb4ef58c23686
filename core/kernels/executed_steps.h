// The number of steps that a block of chained arithmetic really executes.
#pragma once

#include <cstdint>

#include "kernels/rate_kernel.h"

namespace nameplate {

#ifdef NAMEPLATE_EXTRA_STEPS_PERCENT  // a test build: a true slow-down of known size (bench/statistics/slowdowns.py)
constexpr std::uint64_t kExecutedSteps = kBlockSteps * (100 + NAMEPLATE_EXTRA_STEPS_PERCENT) / 100;
#else
constexpr std::uint64_t kExecutedSteps = kBlockSteps;
#endif

}  // namespace nameplate
