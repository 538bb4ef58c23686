// The probes that are linked into this program. A probe's file ends with one line:
//   const Registration<CpuClock> kRegistration(info);
// where `info` is called when the probes are first asked for: what else is registered, it can list.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "probe/probe.h"

namespace nameplate {

struct RegisteredProbe {
  ProbeInfo info;
  std::function<std::unique_ptr<Probe>()> make;
};

void register_probe(ProbeInfo (*info)(), std::function<std::unique_ptr<Probe>()> make);

// All probes, by name.
std::vector<const RegisteredProbe*> registered_probes();

// Throws ProbeError(failed) for a name that is not there.
const RegisteredProbe& find_probe(const std::string& name);

template <class T>
struct Registration {
  explicit Registration(ProbeInfo (*info)()) {
    register_probe(info, [] { return std::make_unique<T>(); });
  }
};

}  // namespace nameplate
