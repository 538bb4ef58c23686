#include "net/resource_pool.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>

#include "machine/descriptor.h"

namespace nameplate {

namespace {

// The touched stacks of a thread in the program and the kernel, and the structures of its sockets: 40 kB were measured.
constexpr std::uint64_t kThreadBytes = std::uint64_t{64} << 10U;
// TCP sizes its queues itself: 512 streams over loopback had at most 0.7 MB each, both ends together.
constexpr std::uint64_t kTcpQueueBytes = std::uint64_t{512} << 10U;
constexpr std::uint64_t kLargestSegments = std::uint64_t{64} << 10U;

// The kernel doubles and caps what a program requests (socket(7)): both queues of a socket with this window.
std::uint64_t queue_bytes(std::uint32_t window_bytes) {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::uint64_t result = 0;
  for (const int option : {SO_SNDBUF, SO_RCVBUF}) {
    int bytes = static_cast<int>(window_bytes);
    socklen_t length = sizeof bytes;
    if (bytes > 0) setsockopt(socket.number(), SOL_SOCKET, option, &bytes, length);
    getsockopt(socket.number(), SOL_SOCKET, option, &bytes, &length);
    result += static_cast<std::uint64_t>(std::max(bytes, 0));
  }
  return result;
}

// Returns the size of the buffers that a connection's system calls use.
std::uint64_t buffer_bytes(const TrafficRequest& request) {
  // Zero-copy datagrams wait in buffers of their own until the network card has read them.
  const bool waits = request.protocol == Protocol::udp && request.send == SendMode::zerocopy;
  const bool has_batch = request.send == SendMode::mmsg || request.receive == ReceiveMode::mmsg || waits;
  const std::uint64_t blocks = (has_batch ? kMaxSegments : 1) * request.block_bytes;
  if (request.receive == ReceiveMode::gro) return std::max(2 * kLargestSegments, blocks);
  return request.send == SendMode::gso ? std::max(kLargestSegments, blocks) : blocks;
}

}  // namespace

Resources resources_of(const TrafficRequest& request) {
  const std::uint64_t connections = request.all_connections();
  const bool is_tcp = request.protocol == Protocol::tcp;
  const std::uint64_t queues = is_tcp && request.window_bytes == 0 ? kTcpQueueBytes : queue_bytes(request.window_bytes);
  // A stream has its block once more, to copy from or to compare with.
  const std::uint64_t content = request.traffic == Traffic::stream ? request.block_bytes : 0;
  return {.sockets = 1 + connections * (is_tcp ? 1 : 2),
          .memory_bytes = connections * (kThreadBytes + queues + content + buffer_bytes(request))};
}

std::string ResourcePool::take(const Resources& part) {
  const std::scoped_lock lock(mutex_);
  if (part.sockets > left_.sockets || part.memory_bytes > left_.memory_bytes) {
    return fmt::format(
        "the peer has {} sockets and {} bytes of memory left, and this request needs {} and {}; use fewer "
        "connections or smaller blocks, or try later",
        left_.sockets, left_.memory_bytes, part.sockets, part.memory_bytes);
  }
  left_.sockets -= part.sockets;
  left_.memory_bytes -= part.memory_bytes;
  return "";
}

void ResourcePool::give_back(const Resources& part) {
  const std::scoped_lock lock(mutex_);
  left_.sockets += part.sockets;
  left_.memory_bytes += part.memory_bytes;
}

}  // namespace nameplate
