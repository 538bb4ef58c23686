#include "machine/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "probe/error.h"

namespace nameplate {

Pipe::Pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  reader = Descriptor(ends[0]);
  writer = Descriptor(ends[1]);
}

std::string program_path() {
  const char* const named = std::getenv("NAMEPLATE_CORE");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return named != nullptr && *named != '\0' ? named : "/proc/self/exe";
}

std::vector<char*> spawn_arguments(std::vector<std::string>& arguments) {
  std::vector<char*> result;
  for (std::string& argument : arguments) result.push_back(argument.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace nameplate
