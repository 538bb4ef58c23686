// A probe that every rank of the job takes part in. The sampler knows only the leading rank's: what it asks of that one
// is told to all others, so that rank 0 alone reads requests, writes records and says when a slice is over.
#pragma once

#include <memory>
#include <string>

#include "machine/machine.h"
#include "mpi/ranks.h"
#include "probe/registry.h"

namespace nameplate {

// On every rank. `setup` may fail on some of them and must not wait for another rank; `run` and `verify` are called on
// all of them alike.
class DistributedProbe : public Probe {
 public:
  // Collective, once every rank is set up.
  virtual void connect() = 0;
};

// The leading rank's probe around its own part.
std::unique_ptr<Probe> make_leader(const std::string& name, std::unique_ptr<DistributedProbe> part);

// Does what the leading rank tells until that is the end.
void follow_leader(Context& context, const Machine& machine);

// Registers a distributed probe under the name that `info` gives it.
template <class T>
struct DistributedRegistration {
  explicit DistributedRegistration(ProbeInfo (*info)()) {
    constexpr bool kTakesWholeJob = true;
    const auto make = [info](Context& /*context*/) -> std::unique_ptr<Probe> {
      if (!Ranks::get().leads()) return std::make_unique<T>();
      return make_leader(info().name, std::make_unique<T>());
    };
    register_probe(info, make, kTakesWholeJob);
  }
};

}  // namespace nameplate
