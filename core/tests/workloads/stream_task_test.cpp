#include "workloads/stream_task.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <functional>

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

  // Calls `check` with a task of every operation, with and without blocks, on one thread and on three.
  void for_every_task(std::size_t step_bytes, const std::function<void(StreamTask& task, unsigned threads)>& check) {
    for (const std::string& name : stream_op_names()) {
      for (const std::size_t block : {0U, 64U, 4096U}) {
        for (const unsigned threads : {1U, 3U}) {
          SCOPED_TRACE(name + ", blocks of " + std::to_string(block) + ", " + std::to_string(threads) + " threads");
          const auto task = make({.op = parse_stream_op(name),
                                  .stores = Stores::plain,
                                  .array_bytes = 100'008,
                                  .block_bytes = block,
                                  .random_blocks = block != 0,
                                  .step_bytes = step_bytes},
                                 threads);
          check(*task, threads);
        }
      }
    }
  }

 private:
  std::unique_ptr<Team> team_;
};

// Counts the calls of a persist function and their bytes.
struct Persisted {
  static void start() {
    calls = 0;
    bytes = 0;
  }
  static int count(const void* /*begin*/, std::size_t size_bytes) {
    ++calls;
    bytes += size_bytes;
    return 0;
  }
  inline static std::atomic<std::size_t> calls;
  inline static std::atomic<std::size_t> bytes;
};

TEST_F(StreamTaskTest, EveryOperationIsVerifiedForAllBlocksAndThreads) {
  for_every_task(0, [](StreamTask& task, unsigned /*threads*/) {
    std::uint64_t bytes = 0;
    for (const Worker& worker : task.run(3)) bytes += worker.bytes;
    EXPECT_EQ(bytes, 3 * task.bytes_in_pass());
    EXPECT_NO_THROW(task.verify());
  });
}

TEST_F(StreamTaskTest, StepsThatEndWithinAPassAreVerifiedAndCounted) {
  for_every_task(7'000, [](StreamTask& task, unsigned threads) {
    ASSERT_EQ(task.steps_in_pass(), threads == 1 ? 14U : 4U);
    std::uint64_t bytes = 0;
    // Two passes in calls that end anywhere, and a part of a third one.
    for (const std::uint64_t steps : {std::uint64_t{1}, std::uint64_t{3}, 2 * task.steps_in_pass() - 4}) {
      for (const Worker& worker : task.run(steps)) bytes += worker.bytes;
      EXPECT_NO_THROW(task.verify()) << "after " << steps << " steps";
    }
    EXPECT_EQ(bytes, 2 * task.bytes_in_pass());
    task.run(1);
    EXPECT_NO_THROW(task.verify());
  });
}

TEST_F(StreamTaskTest, AStepIsAtLeastOneBlockOfEveryWorker) {
  const auto steps = [this](std::size_t array, std::size_t block, std::size_t step) {
    return make({.op = StreamOp::copy,
                 .stores = Stores::plain,
                 .array_bytes = array,
                 .block_bytes = block,
                 .step_bytes = step})
        ->steps_in_pass();
  };
  EXPECT_EQ(steps(1 << 20, 0, 0), 1U);
  EXPECT_EQ(steps(1 << 20, 0, 1 << 20), 1U);
  EXPECT_EQ(steps(1 << 20, 0, 1 << 16), 8U);
  EXPECT_EQ(steps(1 << 20, 1 << 17, 1 << 16), 4U);
  EXPECT_EQ(steps(1 << 20, 0, 64), 4096U);
}

TEST_F(StreamTaskTest, TheBestStoresAreOneOfBothKinds) {
  const auto task = make({.op = StreamOp::copy, .stores = std::nullopt, .array_bytes = 1 << 20});
  task->run(1);
  task->verify();
  EXPECT_TRUE(task->stores() == Stores::plain || task->stores() == Stores::nontemporal);
  EXPECT_GE(task->total_bytes(), 2U << 20U);
}

TEST_F(StreamTaskTest, ImpossibleTasksAreRejected) {
  EXPECT_THROW(make({.op = StreamOp::read, .stores = Stores::nontemporal, .array_bytes = 4096}), ProbeError);
  EXPECT_THROW(make({.op = StreamOp::copy, .stores = Stores::nontemporal, .array_bytes = 4096, .block_bytes = 8}),
               ProbeError);
  EXPECT_THROW(make({.op = StreamOp::copy,
                     .stores = Stores::nontemporal,
                     .array_bytes = 4096,
                     .persist_by = PersistBy::element,
                     .persist = Persisted::count}),
               ProbeError);
  EXPECT_THROW(make({.op = StreamOp::copy, .array_bytes = 64}), ProbeError);
  EXPECT_THROW(make({.op = StreamOp::copy, .array_bytes = 4096, .block_bytes = 4096}), ProbeError);
}

TEST_F(StreamTaskTest, StoresAreMadeDurableOneByOneOrPerPart) {
  constexpr std::size_t kElements = 1001;
  for (const std::string name : {"copy", "scale", "add", "triad", "write"}) {
    for (const PersistBy by : {PersistBy::none, PersistBy::element, PersistBy::array}) {
      const auto task = make({.op = parse_stream_op(name),
                              .stores = Stores::plain,
                              .array_bytes = kElements * sizeof(double),
                              .persist_by = by,
                              .persist = Persisted::count});
      Persisted::start();
      task->run(3);
      EXPECT_NO_THROW(task->verify()) << name;
      EXPECT_EQ(Persisted::bytes, by == PersistBy::none ? 0 : 3 * kElements * sizeof(double)) << name;
      EXPECT_EQ(Persisted::calls, by == PersistBy::none ? 0 : 3 * (by == PersistBy::array ? 2 : kElements)) << name;
    }
  }
}

TEST_F(StreamTaskTest, OnlyTheWrittenArrayIsMadeDurable) {
  static double* written = nullptr;
  static std::atomic<bool> is_inside = true;
  const auto check = [](const void* data, std::size_t) {
    if (data < written || data >= written + 1024) is_inside = false;
    return 0;
  };
  for (const std::string name : {"copy", "scale", "add", "triad", "write"}) {
    const StreamOp op = parse_stream_op(name);
    unsigned number = 0;
    const auto allocate = [&](std::size_t bytes) {
      Buffer buffer(bytes, Pages::small);
      while (!traffic(op).uses[number]) ++number;
      if (number++ == traffic(op).target) written = buffer.as<double>().data();
      return buffer;
    };
    const auto task = make({.op = op,
                            .stores = Stores::plain,
                            .array_bytes = 512 * sizeof(double),
                            .allocate = allocate,
                            .persist_by = PersistBy::element,
                            .persist = check});
    is_inside = true;
    task->run(1);
    EXPECT_TRUE(is_inside) << name;
  }
}

TEST_F(StreamTaskTest, StoresThatCannotBeMadeDurableGiveNoValue) {
  const auto task = make({.op = StreamOp::copy,
                          .stores = Stores::plain,
                          .array_bytes = 8192,
                          .persist_by = PersistBy::array,
                          .persist = [](const void*, std::size_t) { return EIO; }});
  task->run(1);
  EXPECT_THROW(task->verify(), ProbeError);
}

TEST_F(StreamTaskTest, ArraysUseTheGivenAllocator) {
  std::size_t allocated = 0;
  const auto allocate = [&](std::size_t bytes) {
    allocated += bytes;
    return Buffer(bytes, Pages::small);
  };
  const auto task = make({.op = StreamOp::triad, .array_bytes = 8192, .allocate = allocate});
  EXPECT_EQ(allocated, task->total_bytes());
  EXPECT_GE(allocated, 3 * 8192U);
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
