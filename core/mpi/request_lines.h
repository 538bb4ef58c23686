// Reads the lines of standard input in a thread of its own, so that a stop is noticed during a measurement: every
// launcher passes standard input to the first rank, but not all pass signals.
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

  // Waits for the next line. Returns nothing after the last one, and after a stop.
  std::optional<std::string> next();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace nameplate
