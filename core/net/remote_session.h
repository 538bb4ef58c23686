// A session with a peer as the client holds it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "net/channel.h"
#include "net/connection.h"
#include "net/own_peer.h"

namespace nameplate {

// Who the peer of this process's experiments is: one named on the command line, or its own.
class PeerAccess {
 public:
  void use(const HostAndPort& place, const Key& key) {
    place_ = place;
    key_ = key;
  }

  bool is_own() const { return !place_; }
  // Starts the own one where none is named, and again where it has ended. Throws ProbeError(failed).
  HostAndPort place(const Placement& placement);
  const Key& key() const { return own_ ? own_->key() : key_; }

  // A named peer that did not answer once is not waited for again by this process.
  void note_absence(const std::string& why) {
    if (place_) why_absent_ = why;
  }
  const std::string& why_absent() const { return why_absent_; }

 private:
  std::optional<HostAndPort> place_;
  Key key_;
  std::string why_absent_;
  std::unique_ptr<OwnPeer> own_;
};

class RemoteSession {
 public:
  // Connects, proves, asks, and opens every connection. `bind_to`: the own address, or empty. Throws ProbeError(failed)
  // in words that say what to do, and ProbeError(skipped) where peer or system refuse such traffic.
  // An own peer's threads are placed beside those that this process has on `placement`.
  RemoteSession(PeerAccess& access, const TrafficRequest& request, const Placement& placement,
                const std::string& bind_to);

  std::vector<Connection>& connections() { return connections_; }
  // The time of a round trip, as the first connections took it.
  double round_trip_s() const { return round_trip_s_; }
  double median_connect_s() const;

  // How many other sessions the peer served at most since it was asked last.
  unsigned most_others();
  // Why the peer ended the session, or nothing where it did not say.
  std::string why_over();

 private:
  Descriptor connect_to_peer(bool is_traffic);
  void open_channel(const Key& key);
  void ask(const TrafficRequest& request);
  void open_connection(std::uint32_t index);
  void open_datagrams(std::uint32_t index);
  void await_ready(std::uint32_t index);
  void listen_to_peer();

  TrafficRequest request_;
  HostAndPort place_;
  bool is_own_;
  std::optional<Address> bind_to_;
  Address peer_;
  std::optional<Channel> channel_;
  std::vector<Connection> connections_;
  double connect_s_ = 0;
  double round_trip_s_ = 0;
  unsigned most_others_ = 0;
  std::string why_over_;
};

}  // namespace nameplate
