// What all sessions of a peer have together, so that many of them cannot take what the process may have.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "net/traffic.h"

namespace nameplate {

struct Resources {
  std::uint64_t sockets = 0;
  std::uint64_t memory_bytes = 0;  // of the process and of the kernel for it
};

// What a session that serves this request takes.
Resources resources_of(const TrafficRequest& request);

// The threads of all sessions share it.
class ResourcePool {
 public:
  explicit ResourcePool(const Resources& all) : left_(all) {}

  // Returns why so much cannot be taken, or nothing where it has been taken.
  std::string take(const Resources& part);
  void give_back(const Resources& part);

 private:
  std::mutex mutex_;
  Resources left_;
};

}  // namespace nameplate
