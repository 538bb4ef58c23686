#include "net/stream_sender.h"

#include <fmt/format.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/operands.h"
#include "measure/clock.h"
#include "net/datagram_count.h"
#include "net/socket.h"
#include "net/tcp_state.h"
#include "net/wire.h"

namespace nameplate {

namespace {

constexpr unsigned kMaxBatch = kMaxSegments;  // the kernel's UDP_MAX_SEGMENTS, and a batch for sendmmsg
constexpr unsigned kEndMarkers = 3;           // any of them is enough
constexpr unsigned kSendsPerRead = 16;        // zero-copy sends between two queries of the kernel's completions

unsigned batch_of(const TrafficRequest& request) {
  if (request.send == SendMode::mmsg) return kMaxBatch;
  if (request.send != SendMode::gso) return 1;
  return std::clamp(static_cast<unsigned>(kLargestDatagram / request.block_bytes), 1U, kMaxBatch);
}

// Datagrams in the buffer: a batch, or as many as the network card may still read.
unsigned slots_of(const TrafficRequest& request) {
  const bool is_zerocopy = request.protocol == Protocol::udp && request.send == SendMode::zerocopy;
  return is_zerocopy ? kMaxBatch : batch_of(request);
}

// Returns whether a datagram was lost because the system's own queues were full.
bool is_refused() { return errno == ENOBUFS || errno == EAGAIN || errno == EINTR; }

}  // namespace

std::vector<std::uint8_t> block_content(std::uint64_t seed, std::uint64_t bytes) {
  std::vector<std::uint8_t> result(bytes);
  for (std::uint64_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    const std::uint64_t word = finalised(seed + i);
    std::memcpy(result.data() + i, &word, std::min<std::uint64_t>(sizeof word, bytes - i));
  }
  return result;
}

StreamSender::StreamSender(const Connection& connection, const TrafficRequest& request, double delay_s)
    : connection_(connection),
      request_(request),
      pace_(request.interval_s * batch_of(request), delay_s),
      batch_(batch_of(request)),
      buffer_(request.block_bytes * slots_of(request)) {
  const auto content = block_content(connection.seed, request.block_bytes);
  for (unsigned i = 0; i < slots_of(request); ++i) std::ranges::copy(content, slot(i));
}

bool StreamSender::send(std::uint64_t blocks, ConnectionState& state, bool follows_on) {
  report_ = {};
  const bool is_tcp = request_.protocol == Protocol::tcp;
  const std::uint64_t before = is_tcp ? read_tcp(connection_.stream.number()).retransmits : 0;
  const Ticks start = Clock::now();
  if (request_.interval_s > 0) follows_on ? pace_.follow_on() : pace_.start();
  const bool went_well = is_tcp ? send_stream(blocks, state) : send_datagrams(blocks, state);
  await_turn(pace_.end((blocks + batch_ - 1) / batch_), state);
  report_.span_s = Clock::get().seconds(Clock::now() - start);
  if (!went_well) return false;
  if (!is_tcp && !send_end()) return false;
  if (is_tcp) finish_report(before);
  if (!send_all(connection_.stream.number(), encode(report_))) return give_up("reporting a stream");
  send_at_once(connection_.stream.number(), true);
  return true;
}

void StreamSender::finish_report(std::uint64_t retransmits_before) {
  const TcpState now = read_tcp(connection_.stream.number());
  report_.retransmits = now.retransmits - retransmits_before;
  report_.window_bytes = now.window_bytes;
  report_.round_trip_s = now.round_trip_s;
}

// In pieces, so that a sender whose turn is far in the future can be stopped.
void StreamSender::await_turn(Ticks when, const ConnectionState& state) const {
  constexpr double kPiece_s = 0.1;
  if (request_.interval_s <= 0) return;
  const Ticks piece = Clock::get().ticks(kPiece_s);
  for (Ticks now = Clock::now(); now < when && !state.stopped.load(std::memory_order_relaxed); now = Clock::now()) {
    Pace::wait_until(std::min(when, now + piece));
  }
}

bool StreamSender::give_up(const char* action) {
  error_ = fmt::format("{}: {}", action, last_error());
  return false;
}

bool StreamSender::send_stream(std::uint64_t blocks, ConnectionState& state) {
  const int socket = connection_.stream.number();
  const std::uint64_t bytes = blocks * request_.block_bytes;
  if (!send_all(socket, WireWriter().number(bytes).take())) return give_up("announcing a stream");
  send_at_once(socket, false);  // small blocks may share a segment, as in any program that does not ask otherwise
  const bool is_zerocopy = request_.send == SendMode::zerocopy;
  const int flags = MSG_NOSIGNAL | (is_zerocopy ? MSG_ZEROCOPY : 0);
  for (std::uint64_t i = 0; i < blocks && !state.stopped.load(std::memory_order_relaxed); ++i) {
    ByteSpan rest(buffer_);
    while (!rest.empty()) {
      const ssize_t sent = ::send(socket, rest.data(), rest.size(), flags);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == ENOBUFS && is_zerocopy) {  // too many that were not yet completed
        read_completions();
        continue;
      }
      if (sent < 0) return give_up("sending a block");
      rest = rest.subspan(static_cast<std::size_t>(sent));
      if (is_zerocopy && ++report_.zerocopy_sends % kSendsPerRead == 0) read_completions();
    }
    ++report_.sent;
    state.count(request_.block_bytes);
  }
  return true;
}

// One notification covers a range of sends, and says whether the kernel copied their bytes after all
// (Documentation/networking/msg_zerocopy.rst).
void StreamSender::read_completions() {
  for (;;) {
    std::array<std::uint8_t, 128> control{};
    msghdr message{.msg_control = control.data(), .msg_controllen = control.size()};
    if (recvmsg(connection_.socket(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
      sock_extended_err error{};
      std::memcpy(&error, CMSG_DATA(part), sizeof error);
      if (error.ee_origin != SO_EE_ORIGIN_ZEROCOPY) continue;
      const std::uint32_t calls = error.ee_data - error.ee_info + 1;
      completed_ += calls;
      if ((error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0) report_.zerocopy_copied += calls;
    }
  }
}

void StreamSender::await_completions(const ConnectionState& state) {
  read_completions();
  while (completed_ < without_copies_ && !state.stopped.load(std::memory_order_relaxed)) {
    pollfd errors{.fd = connection_.socket(), .events = 0};
    poll(&errors, 1, 1);
    read_completions();
  }
}

// Datagrams of one call have one time: reading the clock for each took 8 % of the sender's time.
void StreamSender::stamp(unsigned count, std::uint64_t first_number, unsigned first_slot) {
  const std::uint32_t now_us = wrapped_us(Clock::now());
  for (unsigned i = 0; i < count; ++i) {
    DatagramHeader{.sample = sample_, .sent_us = now_us, .number = first_number + i}.write(slot(first_slot + i));
  }
}

bool StreamSender::send_datagrams(std::uint64_t blocks, ConnectionState& state) {
  if (request_.send == SendMode::gso) return send_segments(blocks, state);
  if (request_.send == SendMode::zerocopy) return send_without_copies(blocks, state);
  return request_.send == SendMode::mmsg ? send_batches(blocks, state) : send_one_by_one(blocks, state);
}

bool StreamSender::note_datagram(bool is_sent) {
  if (is_sent) {
    ++report_.sent;
  } else if (is_refused()) {
    ++report_.refused;
  } else {
    return give_up("sending a datagram");
  }
  return true;
}

bool StreamSender::send_one_by_one(std::uint64_t blocks, ConnectionState& state) {
  const int socket = connection_.datagrams.number();
  for (std::uint64_t i = 0; i < blocks && !state.stopped.load(std::memory_order_relaxed); ++i) {
    await_turn(pace_.planned(i), state);
    stamp(1, i);
    if (!note_datagram(::send(socket, buffer_.data(), buffer_.size(), MSG_NOSIGNAL) >= 0)) return false;
    state.count(request_.block_bytes);
  }
  return true;
}

// The network card reads a datagram after the call has returned, so its header must stay until that is completed.
bool StreamSender::send_without_copies(std::uint64_t blocks, ConnectionState& state) {
  const auto sends = [&](unsigned index) {
    return ::send(connection_.datagrams.number(), slot(index), request_.block_bytes, MSG_NOSIGNAL | MSG_ZEROCOPY) >= 0;
  };
  for (std::uint64_t i = 0; i < blocks && !state.stopped.load(std::memory_order_relaxed); ++i) {
    await_turn(pace_.planned(i), state);
    const auto index = static_cast<unsigned>(i % kMaxBatch);
    if (index == 0) await_completions(state);
    stamp(1, i, index);
    bool is_sent = sends(index);
    if (!is_sent && errno == ENOBUFS && completed_ < without_copies_) {  // too many that were not yet completed
      await_completions(state);
      is_sent = sends(index);
    }
    if (!note_datagram(is_sent)) return false;
    without_copies_ += is_sent ? 1 : 0;
    if (is_sent && ++report_.zerocopy_sends % kSendsPerRead == 0) read_completions();
    state.count(request_.block_bytes);
  }
  return true;
}

bool StreamSender::send_batches(std::uint64_t blocks, ConnectionState& state) {
  std::array<iovec, kMaxBatch> parts{};
  std::array<mmsghdr, kMaxBatch> messages{};
  for (unsigned i = 0; i < kMaxBatch; ++i) {
    parts[i] = {.iov_base = slot(i), .iov_len = request_.block_bytes};
    messages[i].msg_hdr = {.msg_iov = &parts[i], .msg_iovlen = 1};
  }
  std::uint64_t number = 0;
  for (std::uint64_t batch = 0; number < blocks && !state.stopped.load(std::memory_order_relaxed); ++batch) {
    await_turn(pace_.planned(batch), state);
    const auto count = static_cast<unsigned>(std::min<std::uint64_t>(kMaxBatch, blocks - number));
    stamp(count, number);
    unsigned done = 0;
    while (done < count) {
      const int sent = sendmmsg(connection_.datagrams.number(), messages.data() + done, count - done, MSG_NOSIGNAL);
      if (sent > 0) {
        report_.sent += static_cast<unsigned>(sent);
        done += static_cast<unsigned>(sent);
      } else if (is_refused()) {
        ++report_.refused;
        ++done;
      } else {
        return give_up("sending datagrams");
      }
    }
    number += count;
    state.count(count * request_.block_bytes);
  }
  return true;
}

// One buffer that the kernel, or the network card, splits into datagrams.
bool StreamSender::send_segments(std::uint64_t blocks, ConnectionState& state) {
  iovec part{.iov_base = buffer_.data(), .iov_len = 0};
  alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(std::uint16_t))> control{};
  msghdr message{.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.data(), .msg_controllen = control.size()};
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = IPPROTO_UDP;
  header->cmsg_type = UDP_SEGMENT;
  header->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  const auto segment = static_cast<std::uint16_t>(request_.block_bytes);
  std::memcpy(CMSG_DATA(header), &segment, sizeof segment);
  std::uint64_t number = 0;
  for (std::uint64_t batch = 0; number < blocks && !state.stopped.load(std::memory_order_relaxed); ++batch) {
    await_turn(pace_.planned(batch), state);
    const auto count = static_cast<unsigned>(std::min<std::uint64_t>(batch_, blocks - number));
    stamp(count, number);
    part.iov_len = count * request_.block_bytes;
    if (sendmsg(connection_.datagrams.number(), &message, MSG_NOSIGNAL) >= 0) {
      report_.sent += count;
    } else if (is_refused()) {
      report_.refused += count;
    } else {
      return give_up(errno == EINVAL || errno == EMSGSIZE ? "mode=gso: datagrams larger than the path's MTU"
                                                          : "sending segments");
    }
    number += count;
    state.count(count * request_.block_bytes);
  }
  return true;
}

bool StreamSender::send_end() {
  const DatagramHeader header{.sample = sample_++, .is_end = 1, .sent_us = wrapped_us(Clock::now()), .number = 0};
  std::array<std::uint8_t, sizeof header> bytes{};
  header.write(bytes.data());
  for (unsigned i = 0; i < kEndMarkers; ++i) {
    if (::send(connection_.datagrams.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0 && !is_refused()) {
      return give_up("ending a sample");
    }
  }
  return true;
}

}  // namespace nameplate
