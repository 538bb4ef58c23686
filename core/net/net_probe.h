// Code that the network probes share: their common parameters, and facts about the path to the peer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "net/network_path.h"
#include "net/traffic.h"
#include "probe/probe.h"

namespace nameplate {

Parameter protocol_parameter();
Parameter connections_parameter();
Parameter bind_parameter();

Protocol parse_protocol(const Parameters& parameters);

// Refuses sizes that no datagram can have.
void check_datagram(Protocol protocol, std::uint64_t bytes, const char* parameter);

std::vector<Fact> path_facts();
Facts values_of(const NetworkPath& path, double connect_s);
std::map<std::string, std::string> labels_of(const NetworkPath& path, bool is_local_peer);

}  // namespace nameplate
