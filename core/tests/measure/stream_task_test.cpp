#include "measure/stream_task.h"

#include <gtest/gtest.h>

#include "machine/topology.h"
#include "probe/error.h"

namespace nameplate {
namespace {

class StreamTaskTest : public testing::Test {
 protected:
  std::unique_ptr<StreamTask> make(const StreamSettings& settings, unsigned threads = 2) {
    team_ = make_thread_team(threads, read_topology(Root()).allowed);
    return make_stream_task("fp64", settings, *team_);
  }

 private:
  std::unique_ptr<Team> team_;
};

TEST_F(StreamTaskTest, EveryOperationVerifiesWhateverTheBlocksAndThreads) {
  for (const std::string& name : stream_op_names()) {
    for (const std::size_t block : {0U, 64U, 4096U}) {
      for (const unsigned threads : {1U, 3U}) {
        const auto task = make({.op = parse_stream_op(name),
                                .stores = Stores::plain,
                                .array_bytes = 100'008,
                                .block_bytes = block,
                                .random_blocks = block != 0},
                               threads);
        const auto workers = task->run(3);
        std::uint64_t bytes = 0;
        for (const Worker& worker : workers) bytes += worker.bytes;
        EXPECT_EQ(bytes, 3 * task->bytes_in_pass()) << name;
        EXPECT_NO_THROW(task->verify()) << name << " block " << block;
      }
    }
  }
}

TEST_F(StreamTaskTest, TheBestStoresAreOneOfTheTwo) {
  const auto task = make({.op = StreamOp::copy, .stores = std::nullopt, .array_bytes = 1 << 20});
  task->run(1);
  task->verify();
  EXPECT_TRUE(task->stores() == Stores::plain || task->stores() == Stores::nontemporal);
  EXPECT_GE(task->total_bytes(), 2U << 20U);
}

TEST_F(StreamTaskTest, WhatCannotBeIsRefused) {
  EXPECT_THROW(make({.op = StreamOp::read, .stores = Stores::nontemporal, .array_bytes = 4096}), ProbeError);
  EXPECT_THROW(make({.op = StreamOp::copy, .stores = Stores::nontemporal, .array_bytes = 4096, .block_bytes = 8}),
               ProbeError);
  EXPECT_THROW(make({.op = StreamOp::copy, .array_bytes = 64}), ProbeError);
  EXPECT_THROW(make({.op = StreamOp::copy, .array_bytes = 4096, .block_bytes = 4096}), ProbeError);
}

TEST(BusBytes, APlainStoreReadsItsLineFirst) {
  EXPECT_DOUBLE_EQ(bus_bytes_per_byte(StreamOp::copy, Stores::plain), 1.5);
  EXPECT_DOUBLE_EQ(bus_bytes_per_byte(StreamOp::triad, Stores::plain), 4.0 / 3);
  EXPECT_DOUBLE_EQ(bus_bytes_per_byte(StreamOp::write, Stores::plain), 2);
  EXPECT_DOUBLE_EQ(bus_bytes_per_byte(StreamOp::triad, Stores::nontemporal), 1);
  EXPECT_DOUBLE_EQ(bus_bytes_per_byte(StreamOp::update, Stores::plain), 1);
}

}  // namespace
}  // namespace nameplate
