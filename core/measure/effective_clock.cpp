#include "measure/effective_clock.h"

#include <algorithm>

#include "measure/clock.h"

namespace nameplate {

Ticks run_burst() {
  static const Ticks kCost = Clock::get().ticks(Clock::get().info().cost_s);
  const Ticks start = Clock::now();
  register_chain(kBurstCycles / kChainUnroll);
  const Ticks elapsed = Clock::now() - start;
  return elapsed > kCost ? elapsed - kCost : elapsed;
}

Ticks run_settled_burst() {
  register_chain(kSettleCycles / kChainUnroll);
  return run_burst();
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
