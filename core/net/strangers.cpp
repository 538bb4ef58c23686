#include "net/strangers.h"

#include <algorithm>
#include <ranges>

namespace nameplate {

void Strangers::add(Stranger stranger, const Address& from) {
  const int socket = stranger.socket.number();
  const auto network = networks_.try_emplace(from.network_bytes(), 0).first;
  ++network->second;
  strangers_.push_back({.stranger = std::move(stranger), .network = network});
  by_socket_[socket] = std::prev(strangers_.end());
}

Stranger* Strangers::find(int socket) {
  const auto found = by_socket_.find(socket);
  return found == by_socket_.end() ? nullptr : &found->second->stranger;
}

Stranger Strangers::take(int socket) {
  const auto found = by_socket_.find(socket);
  const auto entry = found->second;
  by_socket_.erase(found);
  if (--entry->network->second == 0) networks_.erase(entry->network);
  Stranger result = std::move(entry->stranger);
  strangers_.erase(entry);
  return result;
}

const Stranger& Strangers::oldest_of_busiest() const {
  const std::size_t most = std::ranges::max(networks_ | std::views::values);
  return std::ranges::find_if(strangers_, [most](const Entry& entry) { return entry.network->second == most; })
      ->stranger;
}

}  // namespace nameplate
