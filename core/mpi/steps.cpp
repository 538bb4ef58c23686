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
struct Trouble {
  Ending ending = Ending::ok;
  bool may_pass = false;
  std::array<char, 1024> words{};
};

// Names the rank unless it is the one whose machine the records describe; always for a wrong result.
std::string with_place(Ending ending, const std::string& message) {
  if (Ranks::get().leads() && ending != Ending::invalid) return message;
  return fmt::format("rank {} on {}: {}", Ranks::get().rank(), read_node_identity().host.data(), message);
}

Trouble trouble_in(const std::function<void()>& part) {
  Trouble own;
  const auto note = [&](Ending ending, const std::string& message) {
    own.ending = ending;
    with_place(ending, message).copy(own.words.data(), own.words.size() - 1);
  };
  try {
    part();
  } catch (const ProbeError& error) {
    note(error.ending(), error.what());
    own.may_pass = error.may_pass();
  } catch (const std::exception& error) {
    note(Ending::failed, error.what());
  }
  return own;
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
  Trouble worst = trouble_in(part);
  // Later outcomes in the list are worse.
  reduce_asleep(&worst, sizeof worst, [&](const void* other) {
    Trouble theirs;
    std::memcpy(&theirs, other, sizeof theirs);
    if (theirs.ending > worst.ending) worst = theirs;
  });
  broadcast_asleep(&worst.ending, sizeof worst.ending);
  if (worst.ending != Ending::ok && Ranks::get().leads()) {
    throw ProbeError(worst.ending, worst.words.data(), worst.may_pass);
  }
  return worst.ending == Ending::ok;
}

}  // namespace nameplate
