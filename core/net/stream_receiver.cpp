#include "net/stream_receiver.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "measure/clock.h"
#include "net/socket.h"
#include "net/stream_sender.h"
#include "net/wire.h"

namespace nameplate {

namespace {

constexpr unsigned kBatch = 64;
constexpr std::size_t kLargestGro = 65536;
constexpr double kShortestGrace_s = 0.02;

std::uint64_t queue_drops(int socket) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> values{};
  socklen_t length = sizeof values;
  if (getsockopt(socket, SOL_SOCKET, SO_MEMINFO, values.data(), &length) != 0) return 0;
  return values[SK_MEMINFO_DROPS];
}

std::size_t receive_buffer_bytes(const TrafficRequest& request) {
  if (request.receive == ReceiveMode::gro) return 2 * kLargestGro;
  return request.receive == ReceiveMode::mmsg ? kBatch * request.block_bytes : request.block_bytes;
}

}  // namespace

StreamReceiver::StreamReceiver(const Connection& connection, const TrafficRequest& request, const Timeouts& timeouts)
    : connection_(connection),
      request_(request),
      grace_s_(kShortestGrace_s + 2 * timeouts.round_trip_s),
      silence_s_(timeouts.silence_s),
      content_(block_content(connection.seed, request.block_bytes)),
      buffer_(receive_buffer_bytes(request)) {
  if (request.protocol == Protocol::udp && request.interval_s > 0) {
    const int on = 1;  // a system without it has the times at which the thread wakes up
    setsockopt(connection.datagrams.number(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  }
  if (request.receive != ReceiveMode::mmsg) return;
  parts_.resize(kBatch);
  messages_.resize(kBatch);
  for (unsigned i = 0; i < kBatch; ++i) {
    parts_[i] = {.iov_base = buffer_.data() + i * request.block_bytes, .iov_len = request.block_bytes};
    messages_[i].msg_hdr = {.msg_iov = &parts_[i], .msg_iovlen = 1};
  }
}

bool StreamReceiver::receive(ConnectionState& state) {
  report_ = {};
  sent_ = {};
  return request_.protocol == Protocol::tcp ? receive_stream(state) && read_sent() : receive_datagrams(state);
}

bool StreamReceiver::receive_stream(ConnectionState& state) {
  const int socket = connection_.stream.number();
  std::array<std::uint8_t, sizeof(std::uint64_t)> announced{};
  if (!receive_all(socket, announced)) return false;
  const auto bytes = WireReader(announced).number<std::uint64_t>();
  const Ticks start = Clock::now();
  std::uint64_t got = 0;
  std::size_t last = 0;
  while (got < bytes) {
    const auto requested = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), bytes - got));
    // Whole blocks, as the sender passes them on: in parts, blocks of 128 KiB arrive 12 to 15 % slower under BBR.
    const ssize_t more = recv(socket, buffer_.data(), requested, MSG_WAITALL);
    if (more < 0 && errno == EINTR) continue;
    if (more == 0) errno = 0;
    if (more <= 0) return false;
    last = static_cast<std::size_t>(more);
    got += last;
    state.count(last);
  }
  report_.span_s = Clock::get().seconds(Clock::now() - start);
  report_.bytes = bytes;
  report_.blocks = bytes / request_.block_bytes;
  // The last bytes received must be the end of a block.
  report_.is_content_right = std::equal(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(last),
                                        content_.end() - static_cast<std::ptrdiff_t>(std::min(last, content_.size())));
  return true;
}

bool StreamReceiver::receive_datagrams(ConnectionState& state) {
  const int socket = connection_.datagrams.number();
  const std::uint64_t drops = queue_drops(socket);
  count_.clear();
  first_ = last_ = 0;
  is_over_ = false;
  last_datagram_ = nullptr;
  std::uint64_t counted = 0;
  Ticks heard = Clock::now();
  while (!is_over_) {
    // A socket that was shut down returns anything: recvmmsg returns empty datagrams endlessly.
    if (state.stopped.load(std::memory_order_relaxed)) return false;
    if (!take_some(0)) {
      if (errno != EAGAIN && errno != EINTR) return false;
      if (has_sent()) break;  // all end markers were lost
      if (Clock::get().seconds(Clock::now() - heard) > silence_s_) return false;
      continue;
    }
    if (counted < count_.unique()) heard = Clock::now();
    state.count((count_.unique() - counted) * request_.block_bytes);
    counted = count_.unique();
  }
  if (!read_sent()) return false;
  drain(state);
  ++sample_;
  report_.blocks = count_.unique();
  report_.bytes = count_.unique() * request_.block_bytes;
  report_.duplicates = count_.duplicates();
  report_.reordered = count_.reordered();
  report_.jitter_s = count_.jitter_s();
  report_.queue_drops = queue_drops(socket) - drops;
  report_.span_s = Clock::get().seconds(last_ - first_);
  report_.is_content_right = is_last_datagram_right();
  return true;
}

// Compared without the header: in the buffer, that of an end marker may have replaced it.
bool StreamReceiver::is_last_datagram_right() const {
  return last_datagram_ == nullptr ||
         std::equal(content_.begin() + sizeof(DatagramHeader), content_.end(), last_datagram_ + sizeof(DatagramHeader));
}

bool StreamReceiver::read_sent() {
  std::array<std::uint8_t, kReportBytes> bytes{};
  if (!receive_all(connection_.stream.number(), bytes)) return false;
  const auto report = decode_send_report(bytes);
  if (report) sent_ = *report;
  return report.has_value();
}

// Returns whether the sender's report has arrived, or the connection has ended.
bool StreamReceiver::has_sent() const {
  pollfd poll_entry{.fd = connection_.stream.number(), .events = POLLIN};
  return poll(&poll_entry, 1, 0) > 0;
}

// Receives datagrams that the end marker overtook, as long as some are missing and more arrive.
void StreamReceiver::drain(ConnectionState& state) {
  const Clock& clock = Clock::get();
  for (Ticks quiet_since = Clock::now(); count_.unique() < sent_.sent && !state.stopped;) {
    const std::uint64_t before = count_.unique();
    while (!state.stopped && take_some(MSG_DONTWAIT)) {
    }
    if (count_.unique() > before) {
      quiet_since = Clock::now();
    } else if (clock.seconds(Clock::now() - quiet_since) > grace_s_) {
      return;
    }
    pollfd poll_entry{.fd = connection_.datagrams.number(), .events = POLLIN};
    poll(&poll_entry, 1, 1);
  }
}

bool StreamReceiver::take_some(int flags) {
  if (request_.receive == ReceiveMode::gro) return take_segments(flags);
  return request_.receive == ReceiveMode::mmsg ? take_batch(flags) : take_one(flags);
}

// At a given rate, where the thread waits for most datagrams: the time of its arrival would count how late it wakes up.
bool StreamReceiver::take_stamped(int flags) {
  iovec part{.iov_base = buffer_.data(), .iov_len = buffer_.size()};
  alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(timespec))> control{};
  msghdr message{.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.data(), .msg_controllen = control.size()};
  const ssize_t got = recvmsg(connection_.datagrams.number(), &message, flags);
  if (got < 0) return false;
  const Ticks now = Clock::now();
  std::uint32_t arrived_us = wrapped_us(now);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp{};
    std::memcpy(&stamp, CMSG_DATA(header), sizeof stamp);
    constexpr std::uint64_t kMicroseconds = 1'000'000;
    constexpr std::uint64_t kNanosecondsInOne = 1000;
    arrived_us = static_cast<std::uint32_t>(static_cast<std::uint64_t>(stamp.tv_sec) * kMicroseconds +
                                            static_cast<std::uint64_t>(stamp.tv_nsec) / kNanosecondsInOne);
  }
  take(buffer_.data(), static_cast<std::size_t>(got), now, arrived_us);
  return true;
}

// An empty datagram is received like any other: the end of a stream shows in `state`, never as a length of 0.
bool StreamReceiver::take_one(int flags) {
  if (request_.interval_s > 0) return take_stamped(flags);
  const ssize_t got = recv(connection_.datagrams.number(), buffer_.data(), buffer_.size(), flags);
  if (got < 0) return false;
  const Ticks now = Clock::now();
  take(buffer_.data(), static_cast<std::size_t>(got), now, wrapped_us(now));
  return true;
}

bool StreamReceiver::take_batch(int flags) {
  const int got = recvmmsg(connection_.datagrams.number(), messages_.data(), kBatch, flags | MSG_WAITFORONE, nullptr);
  if (got <= 0) return false;
  const Ticks now = Clock::now();
  for (unsigned i = 0; i < static_cast<unsigned>(got); ++i) {
    take(buffer_.data() + i * request_.block_bytes, messages_[i].msg_len, now, wrapped_us(now));
  }
  return true;
}

// Several datagrams that the kernel merged; a control message has the size of each but the last. They go to the half of
// the buffer without the last datagram, which merged end markers would overwrite beyond its header.
bool StreamReceiver::take_segments(int flags) {
  const bool is_first_half = last_datagram_ != nullptr && last_datagram_ < buffer_.data() + kLargestGro;
  std::uint8_t* const data = buffer_.data() + (is_first_half ? kLargestGro : 0);
  iovec part{.iov_base = data, .iov_len = kLargestGro};
  alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.data(), .msg_controllen = control.size()};
  const ssize_t got = recvmsg(connection_.datagrams.number(), &message, flags);
  if (got < 0) return false;
  auto segment = static_cast<std::size_t>(got);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != IPPROTO_UDP || header->cmsg_type != UDP_GRO) continue;
    int bytes = 0;
    std::memcpy(&bytes, CMSG_DATA(header), sizeof bytes);
    if (bytes > 0) segment = static_cast<std::size_t>(bytes);
  }
  const Ticks now = Clock::now();
  for (std::size_t offset = 0; offset < static_cast<std::size_t>(got); offset += segment) {
    take(data + offset, std::min(segment, static_cast<std::size_t>(got) - offset), now, wrapped_us(now));
  }
  return true;
}

// Anything that does not belong to this sample is from a stranger, or late: it was counted as lost in its own.
void StreamReceiver::take(const std::uint8_t* datagram, std::size_t bytes, Ticks now, std::uint32_t arrived_us) {
  if (bytes < sizeof(DatagramHeader)) return;
  const DatagramHeader header = DatagramHeader::read(datagram);
  if (header.sample != sample_) return;
  if (header.is_end != 0) {
    is_over_ = true;
    return;
  }
  if (bytes != request_.block_bytes) return;
  last_ = now;
  if (first_ == 0) first_ = now;
  last_datagram_ = datagram;
  count_.note(header.number, header.sent_us, arrived_us);
}

}  // namespace nameplate
