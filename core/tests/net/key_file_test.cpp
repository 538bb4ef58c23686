#include "net/key_file.h"

#include <gtest/gtest.h>

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
  ~KeyFile() override {
    std::filesystem::remove_all(directory_);
    unsetenv("CREDENTIALS_DIRECTORY");
  }

  bool is_accepted(mode_t mode) const {
    chmod(file_.c_str(), mode);
    return complaint([this] { find_key(file_); }).empty();
  }

  std::filesystem::path directory_;
  std::string file_;
};

TEST_F(KeyFile, ANewKeyIsForItsOwnerOnlyAndNeverOverwritten) {
  struct stat status {};
  ASSERT_EQ(stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  const SecretText key = find_key(file_).text();
  EXPECT_EQ(key.size(), 64U);
  EXPECT_NE(complaint([&] { write_new_key(file_); }).find(file_), std::string::npos);
  EXPECT_EQ(find_key(file_).text(), key);
  std::filesystem::remove(file_);
  EXPECT_NE(complaint([&] { find_key(file_); }).find("cannot read"), std::string::npos);
}

TEST_F(KeyFile, AFileThatOthersCanReadIsRejectedWithItsMode) {
  EXPECT_FALSE(is_accepted(0644));
  const std::string message = complaint([this] { find_key(file_); });
  EXPECT_NE(message.find("mode 644"), std::string::npos) << message;
  EXPECT_NE(message.find("chmod 600"), std::string::npos) << message;
}

TEST_F(KeyFile, TheProcesssOwnGroupMayReadItAndNotWriteIt) {
  ASSERT_EQ(chown(file_.c_str(), geteuid(), getegid()), 0);
  EXPECT_TRUE(is_accepted(0440));
  EXPECT_TRUE(is_accepted(0640));
  EXPECT_FALSE(is_accepted(0660));
  EXPECT_FALSE(is_accepted(0444));
}

TEST_F(KeyFile, AnotherGroupMayReadACredentialOnly) {
  constexpr gid_t kOtherGroup = 65533;
  if (chown(file_.c_str(), geteuid(), kOtherGroup) != 0) GTEST_SKIP() << "only root can give a file to another group";
  if (geteuid() == 0) {
    ASSERT_EQ(chown(file_.c_str(), 1, kOtherGroup), 0);
  }
  EXPECT_FALSE(is_accepted(0440));
  setenv("CREDENTIALS_DIRECTORY", directory_.c_str(), 1);
  EXPECT_TRUE(is_accepted(0440));
  EXPECT_FALSE(is_accepted(0460));
  setenv("CREDENTIALS_DIRECTORY", (directory_ / "elsewhere").c_str(), 1);
  EXPECT_FALSE(is_accepted(0440));
  std::filesystem::create_directory(directory_ / "ke");
  setenv("CREDENTIALS_DIRECTORY", (directory_ / "ke").c_str(), 1);
  EXPECT_FALSE(is_accepted(0440)) << "a beginning of the path's letters is no directory above it";
}

struct stat status_of(mode_t mode, uid_t user, gid_t group) {
  struct stat result {};
  result.st_mode = S_IFREG | mode;
  result.st_uid = user;
  result.st_gid = group;
  return result;
}

TEST(IsPrivate, AGroupsMembersAreTrustedWhereRootChoseTheGroup) {
  const Identity reader{.user = 1000, .group = 1000, .supplementary = {100, 2000}};
  EXPECT_TRUE(is_private(status_of(0600, 5, 5), false, reader)) << "who could open it has the right to";
  EXPECT_TRUE(is_private(status_of(0440, 0, 0), false, reader)) << "systemd's credentials";
  EXPECT_TRUE(is_private(status_of(0440, 0, 1000), false, reader));
  EXPECT_TRUE(is_private(status_of(0440, 0, 2000), false, reader)) << "a secret of Kubernetes for an fsGroup";
  EXPECT_TRUE(is_private(status_of(0640, 1000, 1000), false, reader));
  EXPECT_TRUE(is_private(status_of(0640, 1000, 0), false, reader));
  EXPECT_FALSE(is_private(status_of(0640, 1000, 100), false, reader)) << "a user's own file in the group users";
  EXPECT_FALSE(is_private(status_of(0440, 0, 3000), false, reader));
  EXPECT_FALSE(is_private(status_of(0440, 5, 0), false, reader));
  EXPECT_FALSE(is_private(status_of(0440, 5, 1000), false, reader));
}

TEST(IsPrivate, NobodyElseMayHaveWriteAccess) {
  const Identity reader{.user = 1000, .group = 1000};
  for (const mode_t mode : {0460U, 0450U, 0444U, 0441U, 0402U}) {
    EXPECT_FALSE(is_private(status_of(mode, 0, 0), true, reader)) << std::oct << mode;
  }
}

TEST(KeyVariable, IsRemovedAndOverwrittenWhenItIsRead) {
  setenv(kKeyVariable, kDigits, 1);
  const char* value = std::getenv(kKeyVariable);
  EXPECT_EQ(find_key("").text(), kDigits);
  EXPECT_EQ(std::getenv(kKeyVariable), nullptr);
  // unsetenv does not clear the memory of the old value, so find_key must.
  EXPECT_EQ(std::string(value), "");
  EXPECT_FALSE(find_key("").is_given());
}

}  // namespace

}  // namespace nameplate
