// Connections that have not proved anything yet, the oldest first. Where more come than there is room for, the oldest
// of the network with the most has to go, so that whoever has one network cannot push out the connections of another.
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

struct Stranger {
  Descriptor socket;
  double latest_s;  // when it is closed
  PeerHandshake handshake;
  std::vector<std::uint8_t> received = {};
};

class Strangers {
 public:
  explicit Strangers(std::size_t max_strangers) : max_strangers_(max_strangers) {}

  void add(Stranger stranger, const Address& from);
  // Returns nullptr for a socket that is not one of theirs.
  Stranger* find(int socket);
  // Removes one that must be among them.
  Stranger take(int socket);

  bool is_empty() const { return strangers_.empty(); }
  bool has_too_many() const { return strangers_.size() > max_strangers_; }
  const Stranger& oldest() const { return strangers_.front().stranger; }
  // The oldest one of the network (/24 of IPv4, /64 of IPv6) with the most. Where several networks have as many, it is
  // the oldest one of all of these.
  const Stranger& oldest_of_busiest() const;

 private:
  using Networks = std::map<std::string, std::size_t>;  // how many strangers each has
  struct Entry {
    Stranger stranger;
    Networks::iterator network;
  };

  std::size_t max_strangers_;
  std::list<Entry> strangers_;
  std::map<int, std::list<Entry>::iterator> by_socket_;
  Networks networks_;
};

}  // namespace nameplate
