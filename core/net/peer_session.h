// One client's session at the peer: its first connection, and a thread for each connection of its traffic.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/address.h"
#include "net/channel.h"
#include "net/connection.h"
#include "net/resource_pool.h"

namespace nameplate {

// The limits of one session.
struct SessionLimits {
  std::uint64_t bytes = std::uint64_t{1} << 50U;
  double seconds = 3600;
};

class PeerSession {
 public:
  // `ended` is called from the session's thread when it has nothing left to do. What the session takes from `pool` is
  // returned when it is destroyed.
  PeerSession(Channel channel, const SessionLimits& limits, std::vector<unsigned> cpus, ResourcePool& pool,
              std::function<void()> ended);
  PeerSession(const PeerSession&) = delete;
  PeerSession& operator=(const PeerSession&) = delete;
  PeerSession(PeerSession&&) = delete;
  PeerSession& operator=(PeerSession&&) = delete;
  ~PeerSession();

  // Takes over a connection whose opening has the right tag; one with a wrong or used index is closed.
  void adopt(const DataOpening& opening, Descriptor stream);

  // Returns whether datagrams of this hello may come from an address: the tag is right, its connection is waiting for
  // them, and the host is the one that proved to have the key.
  bool expects(const DatagramHello& hello, const Address& from);
  void adopt(const DatagramHello& hello, Descriptor datagrams);

  // Returns the address at which the client found the peer: its datagrams must come from there too.
  Address local_address() const { return nameplate::local_address(channel_.socket()); }

  // Tells the client how many other sessions are running.
  void set_other_sessions(unsigned other_sessions) { other_sessions_ = other_sessions; }

  bool has_ended() const { return ended_; }

 private:
  struct ConnectionSlot {
    Connection connection;
    ConnectionState state;
    std::thread thread;
    bool is_taken = false;
  };

  void serve();
  bool accept_request();
  std::string why_refused(const std::optional<TrafficRequest>& request);
  void watch();
  std::string why_over(double start_s);
  void end_connections();
  void serve_connection(ConnectionSlot& slot, std::uint32_t index);
  void prepare(ConnectionSlot& slot);
  bool await_datagrams(ConnectionSlot& slot);
  void serve_stream(ConnectionSlot& slot, std::uint32_t index);

  Channel channel_;
  SessionLimits limits_;
  std::vector<unsigned> cpus_;
  ResourcePool& pool_;
  Resources taken_;
  std::function<void()> when_ended_;
  std::string host_;  // the client's address, as bytes
  TrafficRequest request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<ConnectionSlot>> slots_;  // empty until the request is accepted
  std::string failure_;  // of a connection's thread; only the session's own thread sends messages
  std::atomic<unsigned> other_sessions_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace nameplate
