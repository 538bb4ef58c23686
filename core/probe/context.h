// What all experiments of a process share. `main` makes it; a probe that needs a part of it is constructed with it.
#pragma once

#include <atomic>
#include <string>

namespace nameplate {

class KeptFiles;
class PeerAccess;

struct Context {
  std::atomic<bool>& stop_requested;  // the experiment ends after the sample that is being taken
  KeptFiles& kept_files;
  PeerAccess& peer;
  std::string lapack = {};  // the library that the user named; empty: the first of the usual ones
};

}  // namespace nameplate
