#include "machine/container.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

using namespace std::string_literals;
using ContainerTest = FakeRoot;

TEST_F(ContainerTest, NoTraceMeansNoContainer) {
  EXPECT_EQ(read_container(root()), std::nullopt);
  put("/proc/self/environ", "PATH=/usr/bin\0HOME=/root\0mycontainer=podman\0container=\0"s);
  EXPECT_EQ(read_container(root()), std::nullopt);
}

TEST_F(ContainerTest, TheEnvironmentNamesTheContainer) {
  put("/proc/self/environ", "PATH=/usr/bin\0container=oci\0HOME=/root\0"s);
  EXPECT_EQ(read_container(root()), "oci");
  put("/proc/self/environ", "APPTAINER_CONTAINER=/images/nameplate.sif\0container=docker\0"s);
  EXPECT_EQ(read_container(root()), "apptainer");
  put("/proc/self/environ", "KUBERNETES_SERVICE_HOST=10.0.0.1\0"s);
  EXPECT_EQ(read_container(root()), "kubernetes");
}

TEST_F(ContainerTest, ARuntimeLeavesAFileInItsContainer) {
  put("/.dockerenv", "");
  EXPECT_EQ(read_container(root()), "docker");
  put("/run/.containerenv", "");
  EXPECT_EQ(read_container(root()), "podman");
}

TEST_F(ContainerTest, AVirtualMachineMadeFromAnImageIsNoContainer) {
  put("/.dockerenv", "");
  const std::filesystem::path namespaces = path("/proc/self/ns");
  std::filesystem::create_directories(namespaces);
  std::filesystem::create_symlink("ipc:[4026531839]", namespaces / "ipc");
  std::filesystem::create_symlink("uts:[4026531838]", namespaces / "uts");
  std::filesystem::create_symlink("pid:[4026531836]", namespaces / "pid");
  EXPECT_EQ(read_container(root()), std::nullopt);
  std::filesystem::remove(namespaces / "pid");
  std::filesystem::create_symlink("pid:[4026532247]", namespaces / "pid");
  EXPECT_EQ(read_container(root()), "docker");
}

TEST_F(ContainerTest, TheFirstProcessNamesAContainerThatAppliesToAll) {
  put("/proc/self/environ", "PATH=/usr/bin\0"s);
  put("/run/systemd/container", "systemd-nspawn");
  EXPECT_EQ(read_container(root()), "systemd-nspawn");
  put("/proc/1/environ", "container=lxc\0"s);
  EXPECT_EQ(read_container(root()), "lxc");
}

// Makes a call fail with EPERM in this process, as the default profiles of Docker and Podman do.
bool block(std::uint32_t call) {
  std::array<sock_filter, 4> program = {
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog filter = {.len = program.size(), .filter = program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

bool is_blocked(const std::string& call) {
  const std::vector<std::string> blocked = read_blocked_calls(Root());
  return std::ranges::find(blocked, call) != blocked.end();
}

TEST_F(ContainerTest, ACallThatSeccompForbidsIsNamed) {
  const auto before = read_blocked_calls(Root());
  EXPECT_EXIT(std::exit(block(SYS_mbind) && is_blocked("mbind") ? 0 : 1), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::exit(block(SYS_io_uring_setup) && is_blocked("io_uring_setup") ? 0 : 1), testing::ExitedWithCode(0),
              "");
  EXPECT_EQ(read_blocked_calls(Root()), before);
}

TEST_F(ContainerTest, ARecordedMachineForbidsNothing) { EXPECT_TRUE(read_blocked_calls(root()).empty()); }

}  // namespace
}  // namespace nameplate
