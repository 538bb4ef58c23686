// The resources that all experiments of a process share. `main` makes them; a probe is constructed with those it needs.
#pragma once

#include <atomic>
#include <string>

namespace nameplate {

class RetainedFiles;
class PeerAccess;

struct Context {
  std::atomic<bool>& stop_requested;  // the experiment ends after the sample that is being taken
  RetainedFiles& retained_files;
  PeerAccess& peer;
  std::string lapack = {};  // the library that the user named; empty: the first of the usual ones
};

}  // namespace nameplate
