// The other end of the network probes: one port, TCP and UDP, many clients at once.
//
// A single thread listens, accepts and takes pending connections through the handshake without ever waiting for one of
// them; only a client that has proved to hold the key gets a session, with its own threads. The number of pending
// connections and their time are limited, and so is what all sessions use together.
#pragma once

#include <sys/types.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/address.h"
#include "net/handshake.h"
#include "net/peer_session.h"
#include "net/pending_connections.h"
#include "net/resource_pool.h"

namespace nameplate {

struct PeerOptions {
  HostAndPort listen{"localhost", kPeerPort};  // port 0: any free one
  Key key;
  SessionLimits session;
  unsigned max_sessions = 64;
  // The limit of all sessions together. The memory leaves a quarter of 1 GiB, the MemoryMax= in docs/peer.md, to the
  // process itself and to the kernel's structures for it.
  Resources all_sessions{.sockets = 4096, .memory_bytes = std::uint64_t{768} << 20U};
  // The CPUs for the threads of connections, one after the other; empty: any.
  std::vector<unsigned> cpus;
};

class Peer {
 public:
  // Listens. Throws ProbeError(failed): the port is in use, the address does not belong to this machine, or it is
  // reachable by others and there is no key.
  explicit Peer(PeerOptions options);

  // Returns every address of the name.
  const std::vector<Address>& addresses() const { return addresses_; }
  bool has_key() const { return options_.key.is_given(); }

  // Lets this user's sockets share the UDP port: sessions open theirs after root has become that user. Throws
  // ProbeError(failed).
  void give_port_to(uid_t user);

  // Serves until `stop` is readable.
  void run(int stop);

 private:
  void handle(int socket);
  void listen_at(const Address& address);
  void watch(int descriptor);
  void accept_all(int listener);
  void add_pending(Descriptor socket, const Address& from);
  void accept_streams(bool on);
  PendingConnection take_out(const PendingConnection& pending);
  void on_readable(PendingConnection& pending);
  void start_session(PendingConnection pending);
  void join_session(PendingConnection pending);
  void answer_datagrams(int listener);
  void answer(const DatagramHello& hello, int listener, const Address& from);
  Mac cookie_of(const DatagramHello& hello, const Address& from) const;
  void remove_ended();
  void tell_neighbours();
  int wait_ms() const;

  PeerOptions options_;
  std::uint64_t max_descriptors_;
  std::vector<Address> addresses_;
  std::vector<Descriptor> stream_listeners_;
  std::vector<Descriptor> datagram_listeners_;
  Descriptor events_;
  Descriptor session_ended_;
  Key cookie_key_ = Key::random();
  std::uint64_t next_session_ = 1;
  PendingConnections pending_;
  double accept_retry_s_ = std::numeric_limits<double>::infinity();
  ResourcePool pool_;
  std::map<std::uint64_t, std::unique_ptr<PeerSession>> sessions_;
};

}  // namespace nameplate
