// Kernels for the 8-bit dot product of AVX-512 VNNI (vpdpbusd): four products of an unsigned and a signed byte are
// added to each 32-bit lane, 128 operations per instruction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/rate_kernel.h"

namespace nameplate {

// Returns why this CPU or this build cannot run it; nothing if it can.
std::optional<std::string> why_not_vnni();

// Returns one kernel per number of chains. Call only after why_not_vnni() returned nothing.
std::vector<RateKernel> vnni_kernels();

}  // namespace nameplate
