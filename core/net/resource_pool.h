// The resources of all sessions of a peer, so that they cannot use up what the process may have.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "net/traffic.h"

namespace nameplate {

struct Resources {
  std::uint64_t sockets = 0;
  std::uint64_t memory_bytes = 0;  // of the process, and of the kernel for it
};

// Returns what a session with this request needs.
Resources resources_of(const TrafficRequest& request);

// Shared by the threads of all sessions.
class ResourcePool {
 public:
  explicit ResourcePool(const Resources& all) : left_(all) {}

  // Takes resources. Returns why they cannot be taken, or nothing on success.
  std::string take(const Resources& part);
  void give_back(const Resources& part);

 private:
  std::mutex mutex_;
  Resources left_;
};

}  // namespace nameplate
