#include "measure/command.h"

#include <gtest/gtest.h>

namespace nameplate {
namespace {

TEST(Command, HasItsTimes) {
  CommandTimer timer;
  const CommandTimes slept = timer.run({"sleep", "0.1"});
  EXPECT_EQ(slept.exit_code, 0);
  EXPECT_GE(slept.elapsed_s, 0.1);
  EXPECT_LT(slept.cpu_user_s + slept.cpu_system_s, 0.1);
  const CommandTimes busy = timer.run({"sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"});
  EXPECT_GT(busy.cpu_user_s, 0.5 * busy.elapsed_s - 0.02);
  EXPECT_GE(busy.elapsed_s + 0.02, busy.cpu_user_s);
}

// An empty program holds less than this process does.
TEST(Command, MemoryIsThatOfTheProgramAlone) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a forked process begins with the sanitizer's shadow memory";
#endif
  CommandTimer timer;
  constexpr std::int64_t kMebibyte = 1 << 20;
  EXPECT_LT(timer.run({"true"}).max_memory_bytes, 4 * kMebibyte);
  const CommandTimes large = timer.run({"dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"});
  EXPECT_GT(large.max_memory_bytes, 64 * kMebibyte);
  EXPECT_LT(large.max_memory_bytes, 70 * kMebibyte);
}

TEST(Command, TellsHowItEnded) {
  CommandTimer timer;
  const CommandTimes failed = timer.run({"sh", "-c", "echo no such luck >&2; exit 3"});
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_EQ(failed.messages, "no such luck\n");
  EXPECT_EQ(timer.run({"sh", "-c", "kill -TERM $$"}).exit_code, 128 + 15);
  const CommandTimes missing = timer.run({"/no/such/program"});
  EXPECT_EQ(missing.problem, "No such file or directory");
  const CommandTimes good = timer.run({"sh", "-c", "echo noise >&2"});
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.problem, "");
  EXPECT_EQ(good.messages, "");
  EXPECT_EQ(timer.run({"sh", "-c", "echo boom >&2; exit 1"}).messages, "boom\n");
}

TEST(Command, HasNoInputAndKeepsOnlyTheEndOfLongMessages) {
  CommandTimer timer;
  EXPECT_EQ(timer.run({"sh", "-c", "read x"}).exit_code, 1);
  const CommandTimes chatty = timer.run({"sh", "-c", "seq 5000 >&2; exit 1"});
  EXPECT_EQ(chatty.messages.size(), 4096U);
  EXPECT_TRUE(chatty.messages.ends_with("4999\n5000\n"));
}

}  // namespace
}  // namespace nameplate
