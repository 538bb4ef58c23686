#include "machine/numa.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "machine/buffer.h"
#include "probe/error.h"

namespace nameplate {
namespace {

// Two nodes with two cores of two threads each; the second has no memory.
Topology two_nodes() {
  Topology topology;
  topology.numa_nodes = {{.index = 0, .cpus = "0-1,4-5", .memory_bytes = std::int64_t{1} << 30},
                         {.index = 2, .cpus = "2-3,6-7", .memory_bytes = 0}};
  topology.allowed = {.cpus = {0, 1, 2, 3, 4, 5, 6}, .cores = 4};
  return topology;
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const ProbeError& error) {
    EXPECT_EQ(error.ending(), Ending::skipped);
    return error.what();
  }
  return "";
}

TEST(Numa, ANodesWorkersUseTheFirstThreadOfEachCoreFirst) {
  const Placement second = placement_on(two_nodes(), 2);
  EXPECT_EQ(second.cpus, (std::vector<unsigned>{2, 3, 6}));
  EXPECT_EQ(second.cores, 2U);
}

TEST(Numa, ANodeThatIsMissingOrHasNoMemoryIsRejected) {
  EXPECT_EQ(refusal([] { placement_on(two_nodes(), 1); }), "there is no NUMA node 1; this machine has 0, 2");
  EXPECT_EQ(refusal([] { require_memory_on(two_nodes(), 2); }), "NUMA node 2 has no memory");
  EXPECT_EQ(refusal([] { require_memory_on(two_nodes(), 0); }), "");
  Topology topology = two_nodes();
  topology.allowed = {.cpus = {0}, .cores = 1};
  EXPECT_EQ(refusal([&] { placement_on(topology, 2); }), "this process may not use any CPU of NUMA node 2");
}

TEST(Numa, MemoryOfAMissingNodeCannotBeAllocated) {
  const Buffer buffer(1 << 20, Pages::small);
  EXPECT_THROW(buffer.bind_to_node(1000), std::runtime_error);
  EXPECT_THROW(buffer.bind_to_node(100'000), std::runtime_error);
}

}  // namespace
}  // namespace nameplate
