// The probes that are linked into this program. A probe's file ends with one line: const Registration<CpuClock>
// kRegistration(info); `info` is called when the probes are first listed, so that it can list other registered things.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "probe/context.h"
#include "probe/probe.h"

namespace nameplate {

using MakeProbe = std::function<std::unique_ptr<Probe>(Context&)>;

struct RegisteredProbe {
  ProbeInfo info;
  MakeProbe make;
  bool takes_all_ranks = false;  // every rank of an MPI job takes part in it
};

void register_probe(ProbeInfo (*info)(), MakeProbe make, bool takes_all_ranks = false);

// Returns all probes, sorted by name.
std::vector<const RegisteredProbe*> registered_probes();

// Throws ProbeError(failed) for an unknown name.
const RegisteredProbe& find_probe(const std::string& name);

template <class T>
struct Registration {
  explicit Registration(ProbeInfo (*info)()) {
    register_probe(info, []([[maybe_unused]] Context& context) {
      if constexpr (std::is_constructible_v<T, Context&>) {
        return std::make_unique<T>(context);
      } else {
        return std::make_unique<T>();
      }
    });
  }
};

}  // namespace nameplate
