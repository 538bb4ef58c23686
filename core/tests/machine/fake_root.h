#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "machine/root.h"

namespace nameplate {

inline constexpr std::int64_t kMebi = std::int64_t{1} << 20;
inline constexpr std::int64_t kGibi = std::int64_t{1} << 30;

// A directory tree that replaces the files of a machine.
class FakeRoot : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    directory_ = testing::TempDir() + "nameplate-root-" + test.test_suite_name() + "-" + test.name();
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(directory_ + path).parent_path());
    std::ofstream(directory_ + path) << text << '\n';
  }
  std::string path(const std::string& below) const { return directory_ + below; }
  Root root() const { return Root(directory_); }

 private:
  std::string directory_;
};

}  // namespace nameplate
