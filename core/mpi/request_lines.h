// The lines of standard input, read by a thread of its own, so that a stop is seen while something is being measured:
// every launcher passes standard input on to the first rank, but not every one a signal.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

namespace nameplate {

class RequestLines {
 public:
  // The line "stop" sets `stop_requested`, which must outlive the thread.
  explicit RequestLines(std::atomic<bool>& stop_requested);

  // Waits for the next one. Nothing after the last, and after a stop.
  std::optional<std::string> next();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace nameplate
