#include "net/local_peer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <vector>

#include "machine/spawn.h"
#include "net/key_file.h"
#include "net/socket.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr int kStart_ms = 5000;

// Returns what the peer announces in time: its port, or why it has none.
std::string read_announcement(int pipe) {
  pollfd poll_entry{.fd = pipe, .events = POLLIN};
  std::array<char, 512> line{};
  if (poll(&poll_entry, 1, kStart_ms) <= 0) return "";
  const ssize_t got = read(pipe, line.data(), line.size());
  return {line.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got))};
}

}  // namespace

Child::~Child() {
  if (number_ < 0) return;
  kill(number_, SIGTERM);
  waitpid(number_, nullptr, 0);
}

bool Child::has_ended() {
  if (number_ >= 0 && waitpid(number_, nullptr, WNOHANG) != 0) number_ = -1;
  return number_ < 0;
}

LocalPeer::LocalPeer(const Placement& placement) : endpoint_{.host = loopback_host(), .port = 0} {
  Pipe port;
  // Standard output carries records, which a peer does not write.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  // Not by duplicating it onto its own number, which glibc 2.28 takes for nothing to do.
  port.writer.let_inherit();
  std::vector<std::string> arguments = {"nameplate-core",
                                        "--die-with-parent",
                                        std::to_string(getpid()),
                                        "serve",
                                        "--listen",
                                        endpoint_.host,
                                        "--port",
                                        "0",
                                        "--announce",
                                        std::to_string(port.writer.number()),
                                        "--cpus",
                                        fmt::format("{}", fmt::join(placement.cpus, ","))};
  SecretText key_entry = key_variable(key_.text());
  const int error = posix_spawn(process_.number(), program_path().c_str(), &actions, nullptr,
                                spawn_arguments(arguments).data(), environment_with(key_entry).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(fmt::format("cannot start a peer on this machine: {}", std::strerror(error)));
  port.writer = Descriptor();
  const std::string announced = read_announcement(port.reader.number());
  std::from_chars(announced.data(), announced.data() + announced.size(), endpoint_.port);
  if (endpoint_.port == 0) {
    fail(fmt::format("the peer on this machine did not start{}{}", announced.empty() ? "" : ": ", announced));
  }
}

}  // namespace nameplate
