// The sending half of a stream: blocks into a TCP connection, or numbered datagrams.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/buffer.h"
#include "measure/pace.h"
#include "net/connection.h"
#include "net/payload.h"

namespace nameplate {

// Returns what a sender sends and a receiver expects: a block of random bytes, repeated.
std::vector<std::uint8_t> block_content(std::uint64_t seed, std::uint64_t bytes);

class StreamSender {
 public:
  StreamSender(const Connection& connection, const TrafficRequest& request, double delay_s);

  // Sends one sample and then, over TCP, its report. A TCP receiver is told in advance how much will come. At a given
  // rate, `follows_on` continues the schedule of the last call, so that the rate is that of both calls together and the
  // time between them. Returns false if the connection is gone; `error` tells why.
  bool send(std::uint64_t blocks, ConnectionState& state, bool follows_on = false);

  const SendReport& report() const { return report_; }
  const std::string& error() const { return error_; }

 private:
  bool send_stream(std::uint64_t blocks, ConnectionState& state);
  bool send_datagrams(std::uint64_t blocks, ConnectionState& state);
  bool send_one_by_one(std::uint64_t blocks, ConnectionState& state);
  bool send_without_copies(std::uint64_t blocks, ConnectionState& state);
  bool send_batches(std::uint64_t blocks, ConnectionState& state);
  bool send_segments(std::uint64_t blocks, ConnectionState& state);
  bool send_end();
  void await_turn(Ticks when, const ConnectionState& state) const;
  // Writes the headers of `count` datagrams in the buffer.
  void stamp(unsigned count, std::uint64_t first_number, unsigned first_slot = 0);
  // Counts a datagram as sent or refused. Returns false for any other error.
  bool note_datagram(bool is_sent);
  std::uint8_t* slot(unsigned index) { return buffer_.data() + index * request_.block_bytes; }
  bool give_up(const char* action);
  void read_completions();
  // Waits until the kernel needs no buffer of an earlier zero-copy call.
  void await_completions(const ConnectionState& state);
  void finish_report(std::uint64_t retransmits_before);

  const Connection& connection_;
  const TrafficRequest& request_;
  Pace pace_;
  unsigned batch_;  // datagrams per system call
  Payload buffer_;
  SendReport report_;
  std::uint16_t sample_ = 0;
  std::uint64_t without_copies_ = 0;  // zero-copy calls of all samples
  std::uint64_t completed_ = 0;       // those of them whose buffer is free again
  std::string error_;
};

}  // namespace nameplate
