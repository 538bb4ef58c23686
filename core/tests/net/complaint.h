// Returns the message of a ProbeError, for tests of messages.

#pragma once

#include <functional>
#include <string>

#include "probe/error.h"

namespace nameplate {

// Returns the message of the ProbeError that `action` throws, or "" if it throws none.
inline std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const ProbeError& error) {
    return error.what();
  }
  return "";
}

}  // namespace nameplate
