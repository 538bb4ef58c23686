#include "kernels/chase.h"

#include <array>
#include <utility>

namespace nameplate {

namespace {

template <std::size_t... kChains>
void chase(const ChaseStop** walkers, std::uint64_t rounds, std::index_sequence<kChains...> /*unused*/) {
  // A local array with constant indices is kept in registers.
  std::array<const ChaseStop*, sizeof...(kChains)> at = {walkers[kChains]...};
  for (; rounds != 0; --rounds) {
#pragma GCC unroll 16
    for (std::uint64_t step = 0; step < kChaseUnroll; ++step) ((at[kChains] = at[kChains]->next), ...);
  }
#ifdef NAMEPLATE_WRONG_KERNEL  // a test build, to show that a wrong kernel is detected
  at[0] = at[0]->next;
#endif
  ((walkers[kChains] = at[kChains]), ...);
}

template <std::size_t kChains>
void chase_chains(const ChaseStop** walkers, std::uint64_t rounds) {
  chase(walkers, rounds, std::make_index_sequence<kChains>());
}

template <std::size_t... kIndices>
constexpr std::array<ChaseLoop, sizeof...(kIndices)> every_loop(std::index_sequence<kIndices...> /*unused*/) {
  return {chase_chains<kIndices + 1>...};
}

}  // namespace

ChaseLoop chase_loop(unsigned chains) {
  static constexpr auto kLoops = every_loop(std::make_index_sequence<kMaxChains>());
  return kLoops.at(chains - 1);
}

}  // namespace nameplate
