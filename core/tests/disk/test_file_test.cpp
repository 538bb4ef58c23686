#include "disk/test_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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
      find_place(path);
    } catch (const ProbeError& error) {
      return error.what();
    }
    return "";
  }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  fs::path directory_ = fs::current_path() / ("test-file-" + std::to_string(getpid()));
  static bool wanted() { return true; }
};

TEST_F(TestFileTest, NothingOfItIsEverSeenInItsDirectory) {
  for (const std::string& name : {std::string(), std::string("mine")}) {
    const TestFile file({.directory = directory_.string(), .name = name}, 100'000, TestFile::Fill::original, wanted);
    EXPECT_TRUE(fs::is_empty(directory_));
    struct stat status {};
    fstat(file.descriptor(), &status);
    EXPECT_EQ(status.st_nlink, 0U);
    EXPECT_EQ(status.st_size, 100'000);
  }
}

TEST_F(TestFileTest, ItHoldsItsContentAlsoWhenOpenedOnceMore) {
  const TestFile file(find_place(directory_.string()), 100'000, TestFile::Fill::original, wanted);
  const Descriptor again = file.open(O_RDONLY);
  std::vector<std::byte> data(100'000);
  ASSERT_EQ(pread(again.number(), data.data(), data.size(), 0), 100'000);
  EXPECT_FALSE(OriginalContent(file.content_seed()).find_difference(data, 0));
}

TEST_F(TestFileTest, AnEmptiedOneIsCompletedAgain) {
  const TestFile file(find_place(directory_.string()), 100'000, TestFile::Fill::original, wanted);
  for (const bool extend : {false, true}) {
    file.empty(extend);
    struct stat status {};
    fstat(file.descriptor(), &status);
    EXPECT_EQ(status.st_size, extend ? 100'000 : 0);
    EXPECT_EQ(status.st_blocks, 0);
    file.complete(wanted);
    fstat(file.descriptor(), &status);
    EXPECT_GE(status.st_blocks * 512, 100'000);
  }
}

TEST_F(TestFileTest, WhatExistsIsRefusedWithItsKind) {
  std::ofstream(path("file")) << "precious";
  fs::create_symlink("file", path("link"));
  EXPECT_NE(error_of(path("file")).find("exists, and no existing file is written to"), std::string::npos);
  EXPECT_NE(error_of(path("link")).find("is a symbolic link"), std::string::npos);
  EXPECT_NE(error_of("/dev/null").find("neither a directory nor a new file"), std::string::npos);
  EXPECT_NE(error_of(path("no/such")).find("there is no directory"), std::string::npos);
  EXPECT_EQ(error_of(path("new")), "");
  std::string text;
  std::getline(std::ifstream(path("file")) >> std::ws, text);
  EXPECT_EQ(text, "precious");
}

TEST_F(TestFileTest, AFileThatWouldFillTheFileSystemIsRefusedWithTheFigures) {
  const std::int64_t room = room_for_files(directory_.string());
  try {
    const TestFile file(find_place(directory_.string()), room + (1 << 30), TestFile::Fill::none, wanted);
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_EQ(error.ending(), Ending::skipped);
    EXPECT_NE(std::string(error.what()).find("stay free"), std::string::npos);
  }
}

TEST_F(TestFileTest, LeftoversAreSweptAndNothingElse) {
  std::ofstream(path(".nameplate-0123456789abcdef")) << "left";
  std::ofstream(path("nameplate-run.jsonl")) << "mine";
  fs::create_directory(path(".nameplate-directory"));
  sweep_leftovers(directory_.string());
  EXPECT_FALSE(fs::exists(path(".nameplate-0123456789abcdef")));
  EXPECT_TRUE(fs::exists(path("nameplate-run.jsonl")));
  EXPECT_TRUE(fs::exists(path(".nameplate-directory")));
}

TEST_F(TestFileTest, LongWorkEndsWhenItIsNotWantedAnyLonger) {
  EXPECT_THROW(TestFile(find_place(directory_.string()), 1 << 20, TestFile::Fill::original, [] { return false; }),
               ProbeError);
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(TestFileTest, EvictedItIsOutOfThePageCacheAndWarmedItIsIn) {
  const TestFile file(find_place(directory_.string()), 10'000'000, TestFile::Fill::original, wanted);
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
