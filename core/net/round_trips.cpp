#include "net/round_trips.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/operands.h"
#include "measure/clock.h"
#include "net/socket.h"

namespace nameplate {

namespace {

constexpr double kNanoseconds = 1e9;

}  // namespace

RoundTrips::RoundTrips(const Connection& connection, const TrafficRequest& request, double delay_s, double longest_s)
    : connection_(connection),
      request_(request),
      pace_(request.interval_s, delay_s),
      longest_s_(longest_s),
      ns_per_tick_(kNanoseconds / Clock::get().info().frequency_hz),
      sent_(request.block_bytes),
      received_(request.block_bytes + 1) {
  for (std::size_t i = 0; i < sent_.size(); ++i) sent_[i] = static_cast<std::uint8_t>(finalised(connection.seed + i));
}

void RoundTrips::run(std::uint64_t round_trips) {
  histogram_->clear();
  done_ = lost_ = 0;
  const bool is_paced = request_.interval_s > 0;
  if (is_paced) pace_.start();
  Ticks start = Clock::now();
  for (std::uint64_t i = 0; i < round_trips; ++i) {
    if (is_paced) {
      // Counted from the planned start: a round trip that starts late because of the previous one has waited, too.
      start = pace_.planned(i);
      Pace::wait_until(start);
    }
    const std::uint64_t number = number_++;
    const bool is_answered = request_.protocol == Protocol::tcp ? exchange(number) : exchange_datagrams(number);
    if (error_) return;
    const Ticks end = Clock::now();
    has_answer_ = is_answered;
    if (is_answered) {
      ++done_;
      histogram_->add(static_cast<std::uint64_t>(static_cast<double>(end - start) * ns_per_tick_));
    } else {
      ++lost_;
    }
    start = end;
  }
  if (is_paced) pace_.finish(round_trips);
}

// As much of the number as fits is at the payload's end, so that the last byte to arrive is checked.
void RoundTrips::stamp(std::uint64_t number) {
  const std::size_t bytes = std::min(sizeof number, sent_.size());
  std::memcpy(sent_.data() + sent_.size() - bytes, &number, bytes);
}

bool RoundTrips::has_stamp(std::uint64_t number) const {
  const std::size_t bytes = std::min(sizeof number, sent_.size());
  return std::memcmp(received_.data() + sent_.size() - bytes, &number, bytes) == 0;
}

bool RoundTrips::is_content_right() const {
  return are_stamps_right_ && (!has_answer_ || std::equal(sent_.begin(), sent_.end(), received_.begin()));
}

bool RoundTrips::give_up(const char* action) {
  error_ = fmt::format("{}: {}", action, last_error());
  return false;
}

bool RoundTrips::exchange(std::uint64_t number) {
  stamp(number);
  const int socket = connection_.socket();
  if (!send_all(socket, sent_)) return give_up("sending a message");
  const std::span<std::uint8_t> answer(received_.data(), sent_.size());
  if (request_.wait == Wait::block) {
    if (!receive_all(socket, answer)) return give_up("waiting for its answer");
  } else {
    const Ticks latest = Clock::now() + Clock::get().ticks(longest_s_);
    if (!spin_receive(socket, answer, [latest] { return Clock::now() > latest; })) {
      return give_up("waiting for its answer");
    }
  }
  if (!has_stamp(number)) are_stamps_right_ = false;
  return true;
}

// Returns false if no answer came in time; answers to earlier messages are ignored.
bool RoundTrips::exchange_datagrams(std::uint64_t number) {
  stamp(number);
  const ssize_t sent = send(connection_.socket(), sent_.data(), sent_.size(), MSG_NOSIGNAL);
  if (sent < 0 && errno != ENOBUFS && errno != EINTR) return give_up("sending a datagram");
  const Ticks latest = Clock::now() + Clock::get().ticks(longest_s_);
  while (receive_datagram()) {
    if (has_stamp(number)) return true;
    if (Clock::now() > latest) return false;
  }
  return false;
}

bool RoundTrips::receive_datagram() {
  const int flags = request_.wait == Wait::spin ? MSG_DONTWAIT : 0;
  const Ticks latest = request_.wait == Wait::spin ? Clock::now() + Clock::get().ticks(longest_s_) : 0;
  for (;;) {
    const ssize_t got = recv(connection_.socket(), received_.data(), received_.size(), flags);
    if (got == static_cast<ssize_t>(sent_.size())) return true;
    if (got < 0 && errno == EAGAIN && (flags == 0 || Clock::now() > latest)) return false;
    if (got < 0 && errno != EAGAIN && errno != EINTR) return give_up("waiting for a datagram");
  }
}

void echo(const Connection& connection, const TrafficRequest& request, ConnectionState& state) {
  const int socket = connection.socket();
  const bool is_tcp = request.protocol == Protocol::tcp;
  const auto is_stopped = [&state] { return state.stopped.load(std::memory_order_relaxed); };
  Payload buffer(request.block_bytes + (is_tcp ? 0 : 1));
  while (!is_stopped()) {
    std::size_t length = buffer.size();
    if (is_tcp) {
      const bool came =
          request.wait == Wait::spin ? spin_receive(socket, buffer, is_stopped) : receive_all(socket, buffer);
      if (!came) return;
    } else {
      const ssize_t got = recv(socket, buffer.data(), buffer.size(), request.wait == Wait::spin ? MSG_DONTWAIT : 0);
      // Only what was requested is sent back.
      if (got != static_cast<ssize_t>(request.block_bytes)) continue;
      length = static_cast<std::size_t>(got);
    }
    if (!send_all(socket, {buffer.data(), length}) && is_tcp) return;
    state.count(2 * length);
  }
}

}  // namespace nameplate
