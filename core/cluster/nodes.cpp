#include "cluster/nodes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "machine/root.h"

namespace nameplate {

namespace {

// Copies at most size - 1 bytes, so that the text stays terminated.
template <std::size_t size>
void copy(std::string_view text, std::array<char, size>& target) {
  std::copy_n(text.begin(), std::min(text.size(), size - 1), target.begin());
}

}  // namespace

NodeIdentity read_node_identity() {
  NodeIdentity identity;
  gethostname(identity.host.data(), identity.host.size() - 1);
  copy(Root().text("/proc/sys/kernel/random/boot_id").value_or(""), identity.boot);
  const ssize_t length = readlink("/proc/self/ns/uts", identity.name_space.data(), identity.name_space.size() - 1);
  if (length < 0) identity.name_space.front() = '\0';
  return identity;
}

std::string hardware_of(const Machine& machine) {
  const Topology& topology = machine.topology;
  const std::string& model = machine.cpu.model.empty() ? machine.cpu.architecture : machine.cpu.model;
  constexpr auto kMiB = std::uint64_t{1} << 20U;
  const std::uint64_t total_mib = static_cast<std::uint64_t>(machine.memory.total_bytes) / kMiB;
  const std::uint64_t step_mib = std::max<std::uint64_t>(1, std::bit_floor(total_mib) / 8);
  const std::uint64_t rounded_mib = (total_mib + step_mib - 1) / step_mib * step_mib;
  const std::string several = topology.packages > 1 ? fmt::format("{} × ", topology.packages) : "";
  return fmt::format("{}{}, {} of {} CPUs, {:.4g} GiB", several, model, topology.allowed.cpus.size(), topology.threads,
                     static_cast<double>(rounded_mib) / 1024);
}

std::string contradiction(const std::vector<NodeRecord>& nodes) {
  std::vector<const NodeRecord*> sorted;
  for (const NodeRecord& node : nodes) sorted.push_back(&node);
  const auto key = [](const NodeRecord* node) {
    return std::tie(node->identity.host, node->identity.boot, node->identity.name_space);
  };
  std::ranges::sort(sorted, {}, key);
  const auto twice = std::ranges::adjacent_find(
      sorted, [](const NodeRecord* a, const NodeRecord* b) { return a->identity == b->identity; });
  if (twice == sorted.end()) return "";
  const std::string_view host = (*twice)->identity.host.data();
  return fmt::format(
      "MPI reports ranks {1} and {2} on two nodes ({0}) that share no memory, although host name, boot identifier "
      "and name space are equal",
      host, (*twice)->first_rank, (*std::next(twice))->first_rank);
}

}  // namespace nameplate
