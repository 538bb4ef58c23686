// The commands of the leading rank to the others, and the agreement on whether all succeeded.
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

// On the leading rank: sends a command to all others.
void broadcast(const Command& command);

// On every other rank: waits, asleep, for a command.
Command receive();

// Collective: runs a rank's part, and returns after all ranks have run theirs. If any failed, the leading rank throws
// the worst ProbeError, with the rank and its node unless it is its own; the others return false.
bool run_collectively(const std::function<void()>& part);

}  // namespace nameplate
