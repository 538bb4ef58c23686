// A block of work of one instruction mix on one instruction set, which any number of workers can run, each with its own
// result. The probes of arithmetic rates share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace nameplate {

struct RateKernel {
  unsigned chains = 0;             // independent chains of dependent operations
  unsigned lanes = 0;              // elements per vector
  std::uint64_t instructions = 0;  // of the mix, per block
  std::uint64_t operations = 0;    // per block; a fused multiply-add counts two
  std::size_t result_bytes = 0;
  bool is_wide = false;  // executes vectors of 512 bits or tiles, for which some x86 cores lower their clock

  // Runs one block. Every block starts from the same operands, so all results are equal.
  std::function<void(std::byte* result)> run;

  // Replays the block in plain scalar code and compares bit for bit: returns a description of the first difference, or
  // nothing.
  std::function<std::optional<std::string>(const std::byte* result)> difference;
};

// Steps per block: long enough (10 to 100 us) that starting one costs nothing, short enough to be replayed.
inline constexpr std::uint64_t kBlockSteps = 4096;

}  // namespace nameplate
