#include "disk/test_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "disk/content.h"
#include "disk/page_cache.h"
#include "probe/error.h"

namespace nameplate {
namespace {

namespace fs = std::filesystem;

class TestFileTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directory(directory_); }
  void TearDown() override { fs::remove_all(directory_); }

  std::string error_of(const std::string& path) const {
    try {
      locate_file(path);
    } catch (const ProbeError& error) {
      return error.what();
    }
    return "";
  }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  fs::path directory_ = fs::current_path() / ("test-file-" + std::to_string(getpid()));
  static bool always() { return true; }
};

TEST_F(TestFileTest, NeverAppearsInItsDirectory) {
  for (const std::string& name : {std::string(), std::string("mine")}) {
    const TestFile file({.directory = directory_.string(), .name = name}, 100'000, TestFile::Fill::original, always);
    EXPECT_TRUE(fs::is_empty(directory_));
    struct stat status {};
    fstat(file.descriptor(), &status);
    EXPECT_EQ(status.st_nlink, 0U);
    EXPECT_EQ(status.st_size, 100'000);
  }
}

TEST_F(TestFileTest, KeepsItsContentWhenOpenedAgain) {
  const TestFile file(locate_file(directory_.string()), 100'000, TestFile::Fill::original, always);
  const Descriptor reopened = file.open(O_RDONLY);
  std::vector<std::byte> data(100'000);
  ASSERT_EQ(pread(reopened.number(), data.data(), data.size(), 0), 100'000);
  EXPECT_FALSE(OriginalContent(file.content_seed()).find_difference(data, 0));
}

TEST_F(TestFileTest, AnEmptiedFileIsFilledAgain) {
  const TestFile file(locate_file(directory_.string()), 100'000, TestFile::Fill::original, always);
  for (const bool extend : {false, true}) {
    file.empty(extend);
    struct stat status {};
    fstat(file.descriptor(), &status);
    EXPECT_EQ(status.st_size, extend ? 100'000 : 0);
    EXPECT_EQ(status.st_blocks, 0);
    file.complete(always);
    fstat(file.descriptor(), &status);
    EXPECT_GE(status.st_blocks * 512, 100'000);
  }
}

TEST_F(TestFileTest, AnExistingPathIsRejectedWithItsKind) {
  std::ofstream(path("file")) << "precious";
  fs::create_symlink("file", path("link"));
  EXPECT_NE(error_of(path("file")).find("exists, and existing files are never written to"), std::string::npos);
  EXPECT_NE(error_of(path("link")).find("is a symbolic link"), std::string::npos);
  EXPECT_NE(error_of("/dev/null").find("not a directory or a new file"), std::string::npos);
  EXPECT_NE(error_of(path("no/such")).find("there is no directory"), std::string::npos);
  EXPECT_EQ(error_of(path("new")), "");
  std::string text;
  std::getline(std::ifstream(path("file")) >> std::ws, text);
  EXPECT_EQ(text, "precious");
}

TEST_F(TestFileTest, AFileThatWouldFillTheFileSystemIsRejectedWithTheSizes) {
  const std::int64_t room = room_for_files(directory_.string());
  try {
    const TestFile file(locate_file(directory_.string()), room + (1 << 30), TestFile::Fill::none, always);
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_EQ(error.ending(), Ending::skipped);
    EXPECT_NE(std::string(error.what()).find("stay free"), std::string::npos);
  }
}

// Returns the id of a process that has ended.
pid_t gone_process() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  return pid;
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

TEST_F(TestFileTest, OnlyTestFilesOfDeadProcessesOfThisHostAreRemoved) {
  const std::string random = "0123456789abcdef";
  const std::string prefix = ".nameplate-test-file-";
  const std::string left = fmt::format("{}{}.{}.{}", prefix, host_name(), gone_process(), random);
  const std::vector<std::string> preserved = {
      fmt::format("{}{}.{}.{}", prefix, host_name(), getpid(), random),         // its process still runs
      fmt::format("{}elsewhere.{}.{}", prefix, gone_process(), random),         // of another host
      fmt::format("{}{}.{}.{}x", prefix, host_name(), gone_process(), random),  // not a name of a test file
      fmt::format("{}{}.-1.{}", prefix, host_name(), random),                   // not a process id
      ".nameplate-0123456789abcdef",
      ".nameplate-key",
      ".nameplate-history-1.index",
      "nameplate-run.jsonl"};
  for (const std::string& name : preserved) std::ofstream(path(name)) << "precious";
  std::ofstream(path(left)) << "left";
  const std::string directory = fmt::format("{}{}.{}.{}", prefix, host_name(), gone_process(), "fedcba9876543210");
  fs::create_directory(path(directory));
  const Descriptor here(open(directory_.c_str(), O_RDONLY | O_DIRECTORY));
  const std::int64_t now_s = time(nullptr);
  sweep_leftovers(here.number(), now_s + 60);
  EXPECT_TRUE(fs::exists(path(left))) << "it is a minute old: its maker may be on its way";
  sweep_leftovers(here.number(), now_s + 3600);
  EXPECT_FALSE(fs::exists(path(left)));
  EXPECT_TRUE(fs::exists(path(directory)));
  for (const std::string& name : preserved) EXPECT_TRUE(fs::exists(path(name))) << name;
}

TEST_F(TestFileTest, LongWorkCanBeCancelled) {
  EXPECT_THROW(TestFile(locate_file(directory_.string()), 1 << 20, TestFile::Fill::original, [] { return false; }),
               ProbeError);
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(TestFileTest, EvictingAndWarmingChangeThePageCache) {
  const TestFile file(locate_file(directory_.string()), 10'000'000, TestFile::Fill::original, always);
  const auto resident = [&] { return resident_bytes(file.descriptor(), file.bytes()); };
  if (!resident()) GTEST_SKIP() << "neither cachestat nor mincore answers here";
  EXPECT_GE(*resident(), 10'000'000);
  evict(file.descriptor());
  EXPECT_LT(*resident(), 1'000'000);
  warm(file.descriptor(), file.bytes());
  EXPECT_GE(*resident(), 10'000'000);
}

}  // namespace
}  // namespace nameplate
