#include "record/moment.h"

#include <fmt/chrono.h>

#include <chrono>

namespace nameplate {

std::string moment_now() {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}+00:00", now);
}

}  // namespace nameplate
