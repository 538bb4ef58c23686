// Detects an emulated processor, whose values would be those of the emulator.
#pragma once

#include <optional>
#include <string>

#include "machine/root.h"

namespace nameplate {

// The architecture for which this program was compiled, as in `uname -m`.
#if defined(__x86_64__)
inline constexpr const char* kArchitecture = "x86_64";
#elif defined(__aarch64__)
inline constexpr const char* kArchitecture = "aarch64";
#else
#error "nameplate-core is for x86-64 and 64-bit Arm"
#endif

// Returns what emulates the processor of a program for `architecture`: "a program on x86_64" or "QEMU (TCG)"; nothing
// if no emulator is known. A user-mode emulator (qemu-user, Rosetta, FEX) makes uname lie, but not the kernel's own
// files.
std::optional<std::string> read_emulator(const Root& root, const std::string& architecture);

}  // namespace nameplate
