#include "net/local_peer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "complaint.h"

namespace nameplate {

namespace {

class LocalPeerTest : public testing::Test {
 protected:
  // Returns the complaint of a peer whose program is another one.
  static std::string complaint_with(const char* program) {
    setenv("NAMEPLATE_CORE", program, 1);  // NOLINT(concurrency-mt-unsafe): this test has one thread
    return complaint([] { const LocalPeer peer(Placement{}); });
  }

  void TearDown() override {
    unsetenv("NAMEPLATE_CORE");  // NOLINT(concurrency-mt-unsafe): this test has one thread
  }

  static bool has_children() { return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }
};

TEST_F(LocalPeerTest, SaysIfItsProgramDoesNotExist) {
  EXPECT_EQ(complaint_with("/nowhere/nameplate-core"),
            "cannot start a peer on this machine: No such file or directory");
  EXPECT_FALSE(has_children());
}

TEST_F(LocalPeerTest, LeavesNoProcessBehindIfItDoesNotStart) {
  EXPECT_EQ(complaint_with("/bin/false"), "the peer on this machine did not start");
  EXPECT_FALSE(has_children());
}

TEST_F(LocalPeerTest, NamesTheReasonThatThePeerGives) {
  const std::string script = testing::TempDir() + "/peer";
  std::ofstream(script) << "#!/bin/sh\nprintf 'no socket' > /proc/self/fd/$9\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_EQ(complaint_with(script.c_str()), "the peer on this machine did not start: no socket");
}

}  // namespace

}  // namespace nameplate
