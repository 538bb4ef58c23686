// The 8-bit dot product of AVX-512 VNNI (vpdpbusd): four products of an unsigned and a signed byte added to each 32-bit
// lane, 128 operations an instruction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/rate_kernel.h"

namespace nameplate {

// Why this CPU or this build cannot run it; nothing if it can.
std::optional<std::string> why_not_vnni();

// One kernel for each number of chains. Call only after why_not_vnni() found nothing.
std::vector<RateKernel> vnni_kernels();

}  // namespace nameplate
