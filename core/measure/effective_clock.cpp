#include "measure/effective_clock.h"

#include <algorithm>

#include "kernels/register_chain.h"
#include "kernels/wide_chain.h"
#include "measure/clock.h"

namespace nameplate {

namespace {

using Chain = void (*)(std::uint64_t turns);

constexpr std::uint64_t kTurnCycles = kChainUnroll;
static_assert(kWideChainUnroll == kTurnCycles);

Ticks burst_of(Chain chain) {
  static const Ticks kCost = Clock::get().ticks(Clock::get().info().cost_s);
  const Ticks start = Clock::now();
  chain(kBurstCycles / kTurnCycles);
  const Ticks elapsed = Clock::now() - start;
  return elapsed > kCost ? elapsed - kCost : elapsed;
}

}  // namespace

Ticks run_burst() { return burst_of(register_chain); }

Ticks run_settled_burst(bool after_wide) {
  const Chain chain = after_wide ? wide_chain : register_chain;
  chain(kSettleCycles / kTurnCycles);
  return burst_of(chain);
}

double undisturbed_burst_s(const std::vector<BurstLog>& logs) {
  std::vector<Ticks> all;
  for (const BurstLog& log : logs) all.insert(all.end(), log.ticks().begin(), log.ticks().end());
  if (all.empty()) return 0;
  const auto quartile = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
  std::ranges::nth_element(all, quartile);
  return Clock::get().seconds(*quartile);
}

}  // namespace nameplate
