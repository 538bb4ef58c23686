#include "machine/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace nameplate {

void open_standard_streams() {
  constexpr std::array kModes = {O_RDONLY, O_RDONLY, O_WRONLY};
  static_assert(STDIN_FILENO == 0 && STDOUT_FILENO == 1 && STDERR_FILENO == 2);
  // In this order each one gets the lowest free number, which is its own.
  for (int number = 0; const int mode : kModes) {
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", mode);  // NOLINT(*-vararg)
    ++number;
  }
}

}  // namespace nameplate
