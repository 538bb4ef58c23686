// The lines of standard input, read by a thread of its own, so that a stop is seen while something is being measured:
// every launcher passes standard input on to the first rank, but not every one a signal.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace nameplate {

class RequestLines {
 public:
  RequestLines();

  // Waits for the next one. Nothing after the last, and after the line "stop", which also sets g_stop_requested.
  std::optional<std::string> next();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace nameplate
