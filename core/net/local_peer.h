// A peer on this machine for runs that name none: a process that is started on first use and ends with this one.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "machine/affinity.h"
#include "net/address.h"
#include "net/secret.h"

namespace nameplate {

// A child process. The destructor ends it if it still runs, and waits for it.
class Child {
 public:
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;
  ~Child();

  // For posix_spawn.
  pid_t* number() { return &number_; }
  bool has_ended();

 private:
  pid_t number_ = -1;  // of a process that was not waited for yet
};

class LocalPeer {
 public:
  // Its threads take the CPUs after those of the threads that they serve, so that the two ends of a connection do not
  // share one if there are two. It listens at the first loopback address of this machine. Throws ProbeError(failed).
  explicit LocalPeer(const Placement& placement);

  const HostAndPort& endpoint() const { return endpoint_; }
  const Key& key() const { return key_; }
  bool has_ended() { return process_.has_ended(); }

 private:
  HostAndPort endpoint_;
  Key key_ = Key::random();
  Child process_;
};

}  // namespace nameplate
