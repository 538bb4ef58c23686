// A region of memory as one random cycle of pointers that visits each of its slots once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/chase.h"
#include "machine/buffer.h"
#include "measure/team.h"

namespace nameplate {

class ChaseCycle {
 public:
  // One stop per `stride_bytes`, a multiple of a 64-byte line, of `size_bytes`. With a wider stride the stop's line
  // within its slot is random, so that all sets of a cache are used. The caller's thread touches the pages first, and
  // the makers share the stops.
  ChaseCycle(std::size_t size_bytes, std::size_t stride_bytes, Pages pages, unsigned walkers, Team& makers);

  std::uint64_t stops() const { return stops_; }
  const Buffer& memory() const { return memory_; }

  // Returns where the walkers start: at equal distances along the cycle, so that none follows another.
  const std::vector<const ChaseStop*>& starts() const { return starts_; }

  // Calls wrong_result unless every stop's successor has the next number.
  void verify() const;

 private:
  ChaseStop* in_slot(std::size_t slot) const;

  Buffer memory_;
  std::size_t stride_bytes_;
  std::uint64_t stops_;
  std::vector<const ChaseStop*> starts_;
};

}  // namespace nameplate
