// A probe that dies in the middle of a sample, for the tests of whoever reads the records.

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
