#include "mpi/steps.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "mpi/ranks.h"
#include "mpi/tree.h"
#include "probe/error.h"

namespace nameplate {

namespace {

struct CommandHead {
  Step step = Step::end;
  std::uint64_t argument = 0;
  std::uint64_t text_bytes = 0;
};

// An error on a rank, of fixed size so that it can be sent as it is.
struct RankError {
  Ending ending = Ending::ok;
  bool may_pass = false;
  std::array<char, 1024> message{};
};

// Names the rank unless it is the one whose machine the records describe; always for a wrong result.
std::string with_rank(Ending ending, const std::string& message) {
  if (Ranks::get().leads() && ending != Ending::invalid) return message;
  return fmt::format("rank {} on {}: {}", Ranks::get().rank(), read_node_identity().host.data(), message);
}

RankError error_in(const std::function<void()>& part) {
  RankError result;
  const auto note = [&](Ending ending, const std::string& message) {
    result.ending = ending;
    with_rank(ending, message).copy(result.message.data(), result.message.size() - 1);
  };
  try {
    part();
  } catch (const ProbeError& error) {
    note(error.ending(), error.what());
    result.may_pass = error.may_pass();
  } catch (const std::exception& error) {
    note(Ending::failed, error.what());
  }
  return result;
}

}  // namespace

void broadcast(const Command& command) {
  CommandHead head{command.step, command.argument, command.text.size()};
  broadcast_asleep(&head, sizeof head);
  std::string text = command.text;
  if (!text.empty()) broadcast_asleep(text.data(), text.size());
}

Command receive() {
  CommandHead head;
  broadcast_asleep(&head, sizeof head);
  Command command{.step = head.step, .argument = head.argument, .text = std::string(head.text_bytes, '\0')};
  if (head.text_bytes > 0) broadcast_asleep(command.text.data(), command.text.size());
  return command;
}

bool run_collectively(const std::function<void()>& part) {
  RankError worst = error_in(part);
  // Later outcomes in the list are worse.
  reduce_asleep(&worst, sizeof worst, [&](const void* other) {
    RankError theirs;
    std::memcpy(&theirs, other, sizeof theirs);
    if (theirs.ending > worst.ending) worst = theirs;
  });
  broadcast_asleep(&worst.ending, sizeof worst.ending);
  if (worst.ending != Ending::ok && Ranks::get().leads()) {
    throw ProbeError(worst.ending, worst.message.data(), worst.may_pass);
  }
  return worst.ending == Ending::ok;
}

}  // namespace nameplate
