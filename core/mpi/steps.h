// What the leading rank tells the others to do, and how all of them find out whether everyone could.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace nameplate {

enum class Step : std::uint64_t { setup, run, verify, teardown, per_node, end };

struct Command {
  Step step = Step::end;
  std::uint64_t argument = 0;
  std::string text;
};

// On the leading rank: lets every other one know.
void broadcast(const Command& command);

// On every other one: waits asleep for what the leading rank tells.
Command receive();

// Collective: does a rank's part, and returns when every rank has done its own. If any failed, the leading rank throws
// the worst one's ProbeError, with the rank and its node where that was another; the others return false.
bool run_collectively(const std::function<void()>& part);

}  // namespace nameplate
