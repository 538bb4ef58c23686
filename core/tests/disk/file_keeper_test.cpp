#include "disk/file_keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "disk/passed_file.h"

namespace nameplate {
namespace {

ino_t inode_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

Descriptor new_file() {
  return Descriptor(open(testing::TempDir().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

TEST(FileKeeper, LendsEachProcessTheFilesOfEarlierOnes) {
  FileKeeper keeper;
  ino_t created = 0;
  {
    const Descriptor lent = keeper.lend();
    EXPECT_FALSE(receive_file(lent.number()));
    const Descriptor file = new_file();
    ASSERT_TRUE(file.is_open());
    created = inode_of(file.number());
    pass_file(lent.number(), "key", file.number());
  }
  keeper.take_back();
  for (int process = 0; process < 2; ++process) {
    const Descriptor lent = keeper.lend();
    const auto received = receive_file(lent.number());
    ASSERT_TRUE(received);
    EXPECT_EQ(received->key, "key");
    EXPECT_EQ(inode_of(received->file.number()), created);
    EXPECT_FALSE(receive_file(lent.number()));
    keeper.take_back();
  }
}

TEST(PassedFile, AKeyThatIsTooLongIsNotPassed) {
  FileKeeper keeper;
  const Descriptor lent = keeper.lend();
  const Descriptor file = new_file();
  pass_file(lent.number(), std::string(10'000, 'k'), file.number());
  keeper.take_back();
  const Descriptor next = keeper.lend();
  EXPECT_FALSE(receive_file(next.number()));
}

}  // namespace
}  // namespace nameplate
