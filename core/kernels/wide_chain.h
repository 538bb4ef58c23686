// A chain of dependent operations among 512-bit vectors, for the clock of a core that executes them.
//
// Some cores (Emerald Rapids: 2.79 instead of 2.99 GHz) lower their clock for such vectors, and raise it again within
// 6 us after the last one. A chain without vectors would show the higher clock.
#pragma once

#include <cstdint>

namespace nameplate {

// Cycles of a turn: 21 multiplications, and an addition that makes a turn as long as that of the register chain.
inline constexpr std::uint64_t kWideChainUnroll = 64;

// Runs `turns` × kWideChainUnroll cycles, on x86-64 only on a CPU with AVX-512. Elsewhere it is the register chain.
void wide_chain(std::uint64_t turns);

}  // namespace nameplate
