// The receiving half of a stream. Every byte is copied to this program; the kernel truncates nothing.
#pragma once

#include <sys/socket.h>

#include <limits>
#include <string>
#include <vector>

#include "net/connection.h"
#include "net/datagram_count.h"
#include "net/payload.h"
#include "record/worker.h"

namespace nameplate {

// How long a receiver waits.
struct Timeouts {
  double round_trip_s = 0;  // time that datagrams may be in flight after their end marker arrived
  double silence_s = std::numeric_limits<double>::infinity();  // a sender is considered gone after this silence
};

class StreamReceiver {
 public:
  StreamReceiver(const Connection& connection, const TrafficRequest& request, const Timeouts& timeouts);

  // Receives one sample to its end, and then the sender's report. Returns false if the connection ended.
  bool receive(ConnectionState& state);

  const ReceiveReport& report() const { return report_; }
  // Returns the sender's report.
  const SendReport& sent() const { return sent_; }

 private:
  bool receive_stream(ConnectionState& state);
  bool receive_datagrams(ConnectionState& state);
  bool take_some(int flags);
  bool take_one(int flags);
  bool take_stamped(int flags);
  bool take_batch(int flags);
  bool take_segments(int flags);
  // `arrived_us` is the time of arrival by any clock, and wraps.
  void take(const std::uint8_t* datagram, std::size_t bytes, Ticks now, std::uint32_t arrived_us);
  bool is_last_datagram_right() const;
  bool read_sent();
  bool has_sent() const;
  void drain(ConnectionState& state);

  const Connection& connection_;
  const TrafficRequest& request_;
  double grace_s_;
  double silence_s_;
  std::vector<std::uint8_t> content_;  // as the sender has it
  Payload buffer_;
  std::vector<iovec> parts_;  // of a batch
  std::vector<mmsghdr> messages_;
  DatagramCount count_;
  ReceiveReport report_;
  SendReport sent_;
  std::uint16_t sample_ = 0;
  bool is_over_ = false;
  const std::uint8_t* last_datagram_ = nullptr;  // in the buffer
  Ticks first_ = 0;
  Ticks last_ = 0;
};

}  // namespace nameplate
