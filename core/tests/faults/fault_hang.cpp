// A probe that hangs and ignores SIGTERM, for tests of the programs that read its records.

#include <csignal>
#include <thread>

#include "measure/clock.h"
#include "probe/registry.h"

namespace nameplate {

namespace {

class FaultHang final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine&) override { return {.resolved = parameters}; }
  Work run(std::uint64_t) override {
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
};

ProbeInfo info() {
  return {.name = "fault_hang", .summary = "hangs", .parameters = {}, .counters = {}, .facts = {}, .needs = {}};
}

const Registration<FaultHang> kRegistration(info);

}  // namespace

}  // namespace nameplate
