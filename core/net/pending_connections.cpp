#include "net/pending_connections.h"

#include <algorithm>
#include <ranges>

namespace nameplate {

void PendingConnections::add(PendingConnection pending, const Address& from) {
  const int socket = pending.socket.number();
  const auto network = networks_.try_emplace(from.network_bytes(), 0).first;
  ++network->second;
  pending_.push_back({.pending = std::move(pending), .network = network});
  by_socket_[socket] = std::prev(pending_.end());
}

PendingConnection* PendingConnections::find(int socket) {
  const auto match = by_socket_.find(socket);
  return match == by_socket_.end() ? nullptr : &match->second->pending;
}

PendingConnection PendingConnections::take(int socket) {
  const auto match = by_socket_.find(socket);
  const auto entry = match->second;
  by_socket_.erase(match);
  if (--entry->network->second == 0) networks_.erase(entry->network);
  PendingConnection result = std::move(entry->pending);
  pending_.erase(entry);
  return result;
}

const PendingConnection& PendingConnections::oldest_of_busiest() const {
  const std::size_t most = std::ranges::max(networks_ | std::views::values);
  return std::ranges::find_if(pending_, [most](const Entry& entry) { return entry.network->second == most; })->pending;
}

}  // namespace nameplate
