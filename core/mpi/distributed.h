// A probe in which every rank of the job takes part. The sampler knows only the leading rank's part, whose steps are
// passed on to all others, so that rank 0 alone reads requests, writes records and decides when a slice is over.
#pragma once

#include <memory>
#include <string>

#include "machine/machine.h"
#include "mpi/ranks.h"
#include "probe/registry.h"

namespace nameplate {

// The part of one rank. `setup` may fail on some ranks and must not wait for another; `run` and `verify` are called on
// all of them.
class DistributedProbe : public Probe {
 public:
  // Collective, after every rank is set up.
  virtual void connect() = 0;
};

// Wraps the leading rank's own part.
std::unique_ptr<Probe> make_leader(const std::string& name, std::unique_ptr<DistributedProbe> part);

// Does what the leading rank says, until it ends.
void follow_leader(Context& context, const Machine& machine);

// Registers a distributed probe under the name in its `info`.
template <class T>
struct DistributedRegistration {
  explicit DistributedRegistration(ProbeInfo (*info)()) {
    constexpr bool kTakesAllRanks = true;
    const auto make = [info](Context& /*context*/) -> std::unique_ptr<Probe> {
      if (!Ranks::get().leads()) return std::make_unique<T>();
      return make_leader(info().name, std::make_unique<T>());
    };
    register_probe(info, make, kTakesAllRanks);
  }
};

}  // namespace nameplate
