// A probe that crashes in the middle of a sample, for tests of the programs that read its records.

#include <csignal>

#include "measure/clock.h"
#include "probe/registry.h"

namespace nameplate {

namespace {

class FaultCrash final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine&) override { return {.resolved = parameters}; }
  Work run(std::uint64_t) override {
    std::raise(SIGSEGV);
    return {};
  }
};

ProbeInfo info() {
  return {.name = "fault_crash", .summary = "crashes", .parameters = {}, .counters = {}, .facts = {}, .needs = {}};
}

const Registration<FaultCrash> kRegistration(info);

}  // namespace

}  // namespace nameplate
