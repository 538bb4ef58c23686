// The loop of memory latency: it follows pointers, each of which is known only after the previous one has been loaded.
#pragma once

#include <cstdint>

namespace nameplate {

// One stop of a chase. The ordinal counts the stops along the cycle, so that the end of a walk can be checked.
struct ChaseStop {
  const ChaseStop* next = nullptr;
  std::uint64_t ordinal = 0;
};

inline constexpr unsigned kMaxChains = 16;
inline constexpr std::uint64_t kChaseUnroll = 16;

// Takes each of several walkers `rounds` × kChaseUnroll steps along its cycle, all concurrently.
using ChaseLoop = void (*)(const ChaseStop** walkers, std::uint64_t rounds);

// For 1 to kMaxChains walkers. x86-64 has registers for about twelve; more are kept on the stack.
ChaseLoop chase_loop(unsigned chains);

}  // namespace nameplate
