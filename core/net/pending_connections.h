// Connections that have not authenticated yet, oldest first. If there are too many, the oldest one of the network with
// the most is dropped, so that a client with a single network cannot displace the connections of others.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "machine/descriptor.h"
#include "net/address.h"
#include "net/handshake.h"

namespace nameplate {

struct PendingConnection {
  Descriptor socket;
  double latest_s;  // when it is closed
  PeerHandshake handshake;
  std::vector<std::uint8_t> received = {};
};

class PendingConnections {
 public:
  explicit PendingConnections(std::size_t max_pending) : max_pending_(max_pending) {}

  void add(PendingConnection pending, const Address& from);
  // Returns nullptr for a socket that is not among them.
  PendingConnection* find(int socket);
  // Removes one that must be among them.
  PendingConnection take(int socket);

  bool is_empty() const { return pending_.empty(); }
  bool has_too_many() const { return pending_.size() > max_pending_; }
  const PendingConnection& oldest() const { return pending_.front().pending; }
  // Returns the oldest one of the network (/24 of IPv4, /64 of IPv6) with the most. If several networks have as many,
  // it is the oldest of all of these.
  const PendingConnection& oldest_of_busiest() const;

 private:
  using Networks = std::map<std::string, std::size_t>;  // number of pending connections per network
  struct Entry {
    PendingConnection pending;
    Networks::iterator network;
  };

  std::size_t max_pending_;
  std::list<Entry> pending_;
  std::map<int, std::list<Entry>::iterator> by_socket_;
  Networks networks_;
};

}  // namespace nameplate
