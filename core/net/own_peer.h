// A peer on this machine for runs that name none: a process that is started on first use and ends with this one.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "machine/affinity.h"
#include "net/address.h"
#include "net/secret.h"

namespace nameplate {

class OwnPeer {
 public:
  // Its threads take the CPUs after those of the threads that they serve, so that the two ends of a connection do not
  // share one if there are two. Throws ProbeError(failed).
  explicit OwnPeer(const Placement& placement);
  OwnPeer(const OwnPeer&) = delete;
  OwnPeer& operator=(const OwnPeer&) = delete;
  OwnPeer(OwnPeer&&) = delete;
  OwnPeer& operator=(OwnPeer&&) = delete;
  ~OwnPeer();

  const HostAndPort& place() const { return place_; }
  const Key& key() const { return key_; }
  bool has_ended() const;

 private:
  HostAndPort place_{"127.0.0.1", 0};
  Key key_ = Key::random();
  pid_t process_ = -1;
};

}  // namespace nameplate
