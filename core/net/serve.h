// The program behind `nameplate-core serve`.
#pragma once

#include <string>

#include "net/peer.h"

namespace nameplate {

struct ServeOptions {
  PeerOptions peer;
  // The user to run as when started by root.
  std::string user = "nobody";
  // A descriptor to which the port is written as a line when the peer listens, or else why it does not; -1: none. A
  // caller that gives one is a program, which needs no messages.
  int announce = -1;
  // Announces the addresses as a JSON object on standard output instead of in words on standard error.
  bool is_json = false;
};

// Listens until SIGINT or SIGTERM. Throws ProbeError(failed).
void serve(ServeOptions options);

}  // namespace nameplate
