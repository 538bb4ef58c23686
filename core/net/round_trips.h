// Round trips over one connection: the client's loop, and the peer's echo.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/pace.h"
#include "net/connection.h"
#include "net/payload.h"
#include "record/histogram.h"

namespace nameplate {

class RoundTrips {
 public:
  // `longest_s` is the time limit for an answer: a datagram without one is lost, a connection without one is dead.
  RoundTrips(const Connection& connection, const TrafficRequest& request, double delay_s, double longest_s);

  // Runs the timed region of one call. Stops early at an error, which `error` then returns.
  void run(std::uint64_t round_trips);

  // Return the counts and times of the last call.
  std::uint64_t done() const { return done_; }
  std::uint64_t lost() const { return lost_; }
  const Histogram& histogram() const { return *histogram_; }
  const std::optional<std::string>& error() const { return error_; }
  // Returns whether every answer was the expected one, and the last one equal to what was sent, byte for byte.
  bool is_content_right() const;

 private:
  bool exchange(std::uint64_t number);
  bool exchange_datagrams(std::uint64_t number);
  bool receive_datagram();
  void stamp(std::uint64_t number);
  bool has_stamp(std::uint64_t number) const;
  bool give_up(const char* action);

  const Connection& connection_;
  const TrafficRequest& request_;
  Pace pace_;
  double longest_s_;
  double ns_per_tick_;
  Payload sent_;
  Payload received_;
  std::unique_ptr<Histogram> histogram_ = std::make_unique<Histogram>();
  std::uint64_t number_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t lost_ = 0;
  bool are_stamps_right_ = true;
  bool has_answer_ = false;  // to what was sent last
  std::optional<std::string> error_;
};

// Sends back everything it receives, until the connection ends or `state` is stopped.
void echo(const Connection& connection, const TrafficRequest& request, ConnectionState& state);

}  // namespace nameplate
