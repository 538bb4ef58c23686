// The other end of RetainedFiles: keeps the files that one process creates for the next one.
#pragma once

#include <map>
#include <string>

#include "machine/descriptor.h"

namespace nameplate {

class FileKeeper {
 public:
  // Returns one end of a new socket, from which a process receives all retained files. Throws ProbeError.
  Descriptor lend();

  // Takes the files that the process created, after it has ended.
  void take_back();

 private:
  Descriptor local_end_;
  std::map<std::string, Descriptor> files_;
};

}  // namespace nameplate
