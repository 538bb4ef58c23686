#include "disk/io.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "machine/descriptor.h"
#include "probe/error.h"

namespace nameplate {
namespace {

constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kBlocks = 8;
constexpr std::uint64_t kSeed = 7;

class IoWorkerTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::vector<std::byte> data(kBlocks * kBlock);
    OriginalContent(kSeed).fill(data, 0);
    ASSERT_TRUE(file_.is_open());
    ASSERT_EQ(pwrite(file_.number(), data.data(), data.size(), 0), static_cast<ssize_t>(data.size()));
  }

  std::unique_ptr<IoWorker> make(IoSettings settings) const {
    settings.block_bytes = kBlock;
    return find_io_library(GetParam())
        .make(settings, {.descriptor = file_.number(), .blocks = kBlocks, .seed = 1, .content_seed = kSeed});
  }

  void spoil(std::uint64_t offset) const {
    const char wrong = 0;
    ASSERT_EQ(pwrite(file_.number(), &wrong, 1, static_cast<off_t>(offset)), 1);
  }

  std::string verdict(const IoWorker& worker) const {
    try {
      worker.verify(file_.number(), "FILE");
    } catch (const ProbeError& error) {
      EXPECT_EQ(error.ending(), Ending::invalid);
      return error.what();
    }
    return "";
  }

  Descriptor file_{open(".", O_TMPFILE | O_RDWR, 0600)};
};

TEST_P(IoWorkerTest, ReadsTheContentAndCountsIt) {
  const auto worker = make({.op = IoOp::read});
  worker->run(3 * kBlocks);
  EXPECT_FALSE(worker->error());
  EXPECT_EQ(worker->done(), 3 * kBlocks);
  EXPECT_EQ(verdict(*worker), "");
}

TEST_P(IoWorkerTest, AFileThatIsNotOpenIsAnErrorAndNotAnEndlessWait) {
  if (GetParam() == "mmap" || GetParam() == "stdio") GTEST_SKIP() << "it opens the file before";
  IoSettings settings{.op = IoOp::read};
  settings.block_bytes = kBlock;
  const auto worker = find_io_library(GetParam()).make(settings, {.descriptor = -1, .blocks = kBlocks, .seed = 1});
  worker->run(kBlocks);
  EXPECT_TRUE(worker->error());
}

TEST_P(IoWorkerTest, AWrongByteThatWasReadIsReported) {
  spoil(3 * kBlock + 100);
  const auto worker = make({.op = IoOp::read});
  worker->run(4);  // the last block read
  EXPECT_EQ(verdict(*worker), "FILE: the byte read at 12388 differs from the file's content");
}

TEST_P(IoWorkerTest, AWrongByteThatWasWrittenIsReported) {
  const auto worker = make({.op = IoOp::write, .sync = IoSync::end});
  worker->run(kBlocks);
  EXPECT_EQ(verdict(*worker), "");
  spoil(5 * kBlock + 100);
  EXPECT_EQ(verdict(*worker), "FILE: the byte at 20580 differs from what was written there");
}

TEST_P(IoWorkerTest, ContentOfAnEarlierCallIsDetected) {
  const auto worker = make({.op = IoOp::write});
  worker->run(kBlocks);
  std::vector<std::byte> block(kBlock);
  ASSERT_EQ(pread(file_.number(), block.data(), block.size(), 0), static_cast<ssize_t>(block.size()));
  worker->run(kBlocks);
  ASSERT_EQ(pwrite(file_.number(), block.data(), block.size(), 0), static_cast<ssize_t>(block.size()));
  EXPECT_NE(verdict(*worker), "") << "a lost write is found";
}

TEST_P(IoWorkerTest, ReadingAndWritingBackKeepsTheContent) {
  const auto worker = make({.op = IoOp::readwrite, .pattern = Pattern::random});
  worker->run(2 * kBlocks);
  EXPECT_EQ(verdict(*worker), "");
  EXPECT_EQ(verdict(*make({.op = IoOp::read})), "");
}

TEST_P(IoWorkerTest, AShortFileIsAnErrorAndNotACrash) {
  const auto worker = make({.op = IoOp::read});
  ASSERT_EQ(ftruncate(file_.number(), 2 * kBlock), 0);
  worker->run(kBlocks);
  ASSERT_TRUE(worker->error());
  EXPECT_GE(worker->error()->offset, 2 * kBlock);
  EXPECT_EQ(worker->error()->number, GetParam() == "mmap" ? EIO : 0);
}

TEST_P(IoWorkerTest, ForeignContentMustReadTheSameTwice) {
  const auto worker = make({.op = IoOp::read});
  worker->run(1);
  EXPECT_NO_THROW(worker->verify_unknown(file_.number(), "FILE"));
  spoil(10);
  EXPECT_THROW(worker->verify_unknown(file_.number(), "FILE"), ProbeError);
}

INSTANTIATE_TEST_SUITE_P(Libraries, IoWorkerTest, ::testing::ValuesIn(io_library_names()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace nameplate
