// The answers of the CPUID instruction of x86, from this CPU or recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "machine/root.h"

namespace nameplate {

struct CpuidRegisters {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
};

// Returns the registers for a leaf and subleaf; nothing for a leaf that does not exist.
using Cpuid = std::function<std::optional<CpuidRegisters>(std::uint32_t leaf, std::uint32_t subleaf)>;

// Answers for this CPU, or for a recorded machine from its /recorded/cpuid. Other processors have no leaf at all.
Cpuid cpuid_of(const Root& root);

}  // namespace nameplate
