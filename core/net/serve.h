// The program that listens: what `nameplate-core serve` does.
#pragma once

#include <string>

#include "net/peer.h"

namespace nameplate {

struct ServeOptions {
  PeerOptions peer;
  // Whose rights the peer has when root starts it.
  std::string user = "nobody";
  // A descriptor to which the port is written, as a line, once it listens; -1: none. Whoever names one is another
  // program that needs no words.
  int announce = -1;
};

// Listens until SIGINT or SIGTERM. Throws ProbeError(failed).
void serve(ServeOptions options);

}  // namespace nameplate
