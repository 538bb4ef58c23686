// Parts of starting another program with posix_spawn.
#pragma once

#include <string>
#include <vector>

#include "machine/descriptor.h"

namespace nameplate {

// Both ends are closed in programs that are started, unless they are handed over. Throws ProbeError.
struct Pipe {
  Pipe();

  Descriptor reader;
  Descriptor writer;
};

// Returns the path by which this program starts itself again: NAMEPLATE_CORE, if it is set and not empty, which is the
// program that nameplate starts, too; else /proc/self/exe. Under an emulator that the kernel does not start, the former
// is a script that calls the emulator.
std::string program_path();

// Returns the arguments of a command as posix_spawn takes them; they point into `arguments`.
std::vector<char*> spawn_arguments(std::vector<std::string>& arguments);

}  // namespace nameplate
