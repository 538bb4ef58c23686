// A block of chained arithmetic: its operands, its loop, and the check of its result, shared by flops.cpp and
// intops.cpp.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/rate_kernel.h"

namespace nameplate {

// The loop for one number of chains, compiled for one instruction set.
template <class T>
struct ChainVariant {
  int chains;
  void (*run)(const T* start, T* finish, const T* constants, std::uint64_t rounds);
};

template <class T>
struct ChainVariants {
  std::size_t lanes = 0;
  std::vector<ChainVariant<T>> variants;  // empty if the instruction set lacks the instruction
};

// Shared by all workers and read-only.
template <class T>
struct ChainBlock {
  std::size_t lanes = 0;
  ChainVariant<T> variant = {};
  std::vector<T> start;
  std::array<T, 4> constants = {};
  std::uint64_t rounds = 0;
  // Replays one element of one chain through the whole block in plain scalar code.
  std::function<T(const ChainBlock& block, std::size_t element)> replay;
};

template <class T>
std::optional<std::string> first_difference(const ChainBlock<T>& block, const std::byte* result) {
  for (std::size_t element = 0; element < block.start.size(); ++element) {
    T measured = 0;
    std::memcpy(&measured, result + element * sizeof(T), sizeof(T));
    const T expected = block.replay(block, element);
    if (std::memcmp(&measured, &expected, sizeof(T)) != 0) {
      return fmt::format("chain {} lane {} is {}, but a scalar replay gives {}", element / block.lanes,
                         element % block.lanes, measured, expected);
    }
  }
  return std::nullopt;
}

// `half_operations` is twice the number of operations that one instruction does on one element.
template <class T>
RateKernel make_rate_kernel(ChainBlock<T> made, unsigned half_operations) {
  const auto block = std::make_shared<const ChainBlock<T>>(std::move(made));
  RateKernel kernel;
  kernel.chains = static_cast<unsigned>(block->variant.chains);
  kernel.lanes = static_cast<unsigned>(block->lanes);
  kernel.instructions = kBlockSteps * kernel.chains;
  kernel.operations = kernel.instructions * block->lanes * half_operations / 2;
  kernel.result_bytes = block->start.size() * sizeof(T);
  constexpr std::size_t kWideBytes = 64;
  kernel.is_wide = block->lanes * sizeof(T) == kWideBytes;
  kernel.run = [block](std::byte* result) {
    block->variant.run(block->start.data(), reinterpret_cast<T*>(result),  // NOLINT: aligned by its owner
                       block->constants.data(), block->rounds);
  };
  kernel.difference = [block](const std::byte* result) { return first_difference(*block, result); };
  return kernel;
}

}  // namespace nameplate
