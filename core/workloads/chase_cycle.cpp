#include "workloads/chase_cycle.h"

#include <fmt/format.h>

#include <new>

#include "kernels/permutation.h"
#include "probe/error.h"

namespace nameplate {

ChaseCycle::ChaseCycle(std::size_t size_bytes, std::size_t stride_bytes, Pages pages, unsigned walkers, Team& makers)
    : memory_(size_bytes, pages), stride_bytes_(stride_bytes), stops_(size_bytes / stride_bytes) {
  memory_.touch(0, size_bytes);
  // A random order of visits is a random cycle. Stops are written in the order of addresses, which takes a tenth of the
  // time of the order of visits.
  const Permutation order(stops_);
  makers.run_untimed([&](unsigned maker) {
    const std::uint64_t end = stops_ * (maker + 1) / makers.size();
    for (std::uint64_t slot = stops_ * maker / makers.size(); slot < end; ++slot) {
      const std::uint64_t ordinal = order.inverse(slot);
      new (in_slot(slot)) ChaseStop{.next = in_slot(order(ordinal + 1 < stops_ ? ordinal + 1 : 0)), .ordinal = ordinal};
    }
  });
  for (unsigned i = 0; i < walkers; ++i) starts_.push_back(in_slot(order(stops_ * i / walkers)));
}

ChaseStop* ChaseCycle::in_slot(std::size_t slot) const {
  const std::size_t lines = stride_bytes_ / kLine;
  const std::size_t line = lines == 1 ? 0 : (slot * 0x9E3779B97F4A7C15U >> 32U) % lines;
  return reinterpret_cast<ChaseStop*>(memory_.data() + slot * stride_bytes_ + line * kLine);  // NOLINT: raw memory
}

// In the order of addresses rather than of the cycle, which would take the time of a full walk.
void ChaseCycle::verify() const {
  for (std::size_t slot = 0; slot < stops_; ++slot) {
    const ChaseStop* const stop = in_slot(slot);
    const std::uint64_t expected = stop->ordinal + 1 < stops_ ? stop->ordinal + 1 : 0;
    if (stop->next->ordinal != expected) {
      wrong_result(
          fmt::format("stop {} of the chase leads to stop {} of {}", stop->ordinal, stop->next->ordinal, stops_));
    }
  }
}

}  // namespace nameplate
