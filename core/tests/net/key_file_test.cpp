#include "net/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "tests/net/complaint.h"

namespace nameplate {

namespace {

constexpr const char* kDigits = "00112233445566778899aabbccddeeff";

class KeyFile : public testing::Test {
 protected:
  KeyFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nameplate-key-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    file_ = (directory_ / "key").string();
    write_new_key(file_);
  }
  ~KeyFile() override { std::filesystem::remove_all(directory_); }

  bool is_accepted(mode_t mode) const {
    chmod(file_.c_str(), mode);
    return complaint([this] { find_key(file_); }).empty();
  }

  std::filesystem::path directory_;
  std::string file_;
};

TEST_F(KeyFile, ANewKeyIsForItsOwnerOnlyAndNeverWrittenOver) {
  struct stat status {};
  ASSERT_EQ(stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  const SecretText key = find_key(file_).text();
  EXPECT_EQ(key.size(), 64U);
  EXPECT_NE(complaint([&] { write_new_key(file_); }).find(file_), std::string::npos);
  EXPECT_EQ(find_key(file_).text(), key);
  std::filesystem::remove(file_);
  EXPECT_NE(complaint([&] { find_key(file_); }).find("cannot be read"), std::string::npos);
}

TEST_F(KeyFile, AFileThatOthersCanReadIsRefused) {
  EXPECT_FALSE(is_accepted(0644));
  const std::string words = complaint([this] { find_key(file_); });
  EXPECT_NE(words.find("chmod 600"), std::string::npos) << words;
}

TEST(KeyVariable, IsRemovedAndOverwrittenWhenItIsRead) {
  setenv(kKeyVariable, kDigits, 1);
  const char* place = std::getenv(kKeyVariable);
  EXPECT_EQ(find_key("").text(), kDigits);
  EXPECT_EQ(std::getenv(kKeyVariable), nullptr);
  // unsetenv leaves the memory to whoever set it.
  EXPECT_EQ(std::string(place), "");
  EXPECT_FALSE(find_key("").is_given());
}

}  // namespace

}  // namespace nameplate
