// A session with a peer, on the client's side.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "net/channel.h"
#include "net/connection.h"
#include "net/local_peer.h"

namespace nameplate {

// The peer of this process's experiments: one named on the command line, or its own.
class PeerAccess {
 public:
  void use(const HostAndPort& endpoint, const Key& key) {
    endpoint_ = endpoint;
    key_ = key;
  }

  bool is_local() const { return !endpoint_; }
  // Starts the local peer if none is named, and restarts it if it has ended. Throws ProbeError(failed).
  HostAndPort endpoint(const Placement& placement);
  const Key& key() const { return local_peer_ ? local_peer_->key() : key_; }

  // A named peer that did not answer once is not waited for again by this process.
  void note_absence(const std::string& why) {
    if (endpoint_) why_absent_ = why;
  }
  const std::string& why_absent() const { return why_absent_; }

 private:
  std::optional<HostAndPort> endpoint_;
  Key key_;
  std::string why_absent_;
  std::unique_ptr<LocalPeer> local_peer_;
};

class RemoteSession {
 public:
  // Connects, authenticates, sends the request, and opens every connection. `bind_to` is the local address, or empty.
  // Throws ProbeError(failed) with a message that says what to do, and ProbeError(skipped) if peer or system reject
  // such traffic. The threads of a local peer are placed next to the threads of this process on `placement`.
  RemoteSession(PeerAccess& access, const TrafficRequest& request, const Placement& placement,
                const std::string& bind_to);

  std::vector<Connection>& connections() { return connections_; }
  // Returns the round-trip time of the first connections.
  double round_trip_s() const { return round_trip_s_; }
  double median_connect_s() const;

  // Returns the maximum number of other sessions of the peer since the last call.
  unsigned max_other_sessions();
  // Returns why the peer ended the session, or nothing if it did not say.
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
  HostAndPort endpoint_;
  bool is_local_;
  std::optional<Address> bind_to_;
  Address peer_;
  std::optional<Channel> channel_;
  std::vector<Connection> connections_;
  double connect_s_ = 0;
  double round_trip_s_ = 0;
  unsigned max_other_sessions_ = 0;
  std::string why_over_;
};

}  // namespace nameplate
