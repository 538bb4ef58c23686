#include "cluster/nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace nameplate {
namespace {

NodeRecord node(std::string_view host, std::string_view name_space, int first_rank) {
  NodeRecord record;
  std::ranges::copy(host, record.identity.host.begin());
  std::ranges::copy(name_space, record.identity.name_space.begin());
  record.first_rank = first_rank;
  return record;
}

TEST(Nodes, ThisNodeHasANameAndEqualsItself) {
  const NodeIdentity identity = read_node_identity();
  EXPECT_NE(identity.host.front(), '\0');
  EXPECT_EQ(std::string_view(identity.name_space.data()).substr(0, 5), "uts:[");
  EXPECT_EQ(identity, read_node_identity());
}

TEST(Nodes, HardwareIsTheSameThoughFirmwareReservesSomeMemory) {
  Machine machine;
  machine.cpu.model = "M";
  machine.topology.packages = 2;
  machine.topology.threads = 4;
  machine.topology.allowed.cpus = {0, 1};
  machine.memory.total_bytes = (std::int64_t{256} << 30U) - 4'000'000'000;
  EXPECT_EQ(hardware_of(machine), "2 × M, 2 of 4 CPUs, 256 GiB");
  machine.memory.total_bytes = (std::int64_t{256} << 30U) - 9'000'000'000;
  EXPECT_EQ(hardware_of(machine), "2 × M, 2 of 4 CPUs, 256 GiB");
}

TEST(Nodes, DifferentNodesDoNotContradict) {
  EXPECT_EQ(contradiction({node("a", "1", 0), node("b", "1", 2), node("a", "2", 4)}), "");
}

TEST(Nodes, OneSystemThatMpiSeesAsTwoIsReported) {
  const std::string message = contradiction({node("a", "1", 0), node("b", "1", 2), node("a", "1", 4)});
  EXPECT_NE(message.find("ranks 0 and 4 on two nodes (a)"), std::string::npos) << message;
}

}  // namespace
}  // namespace nameplate
