#include "measure/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <system_error>

#include "machine/spawn.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr int kSignalled = 128;
constexpr int kNotStarted = 127;
constexpr std::size_t kMessages_bytes = 4096;

double seconds(const timeval& time) {
  constexpr double kMicrosecond_s = 1e-6;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * kMicrosecond_s;
}

[[noreturn]] void throw_system_error(const char* action) {
  throw std::system_error(errno, std::generic_category(), action);
}

}  // namespace

CommandTimer::CommandTimer()
    : nothing_(open("/dev/null", O_RDWR | O_CLOEXEC)), messages_(memfd_create("messages", MFD_CLOEXEC)) {
  if (!nothing_.is_open()) throw_system_error("/dev/null");
  if (!messages_.is_open()) throw_system_error("a file in memory");
  void* const page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw_system_error("a page of shared memory");
  shared_ = static_cast<Shared*>(page);
  Clock::get();
}

CommandTimer::~CommandTimer() { munmap(shared_, sizeof(Shared)); }

CommandTimes CommandTimer::run(std::vector<std::string> arguments) {
  const std::vector<char*> spawned = spawn_arguments(arguments);
  *shared_ = {};
  // All programs share the offset of the file.
  const bool is_empty = ftruncate(messages_.number(), 0) == 0 && lseek(messages_.number(), 0, SEEK_SET) == 0;
  if (!is_empty) throw_system_error("a file in memory");
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw_system_error("cannot start a process");
  if (child == 0) execute(spawned, parent);
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) throw_system_error("cannot wait for a process");
  }
  const Ticks end = Clock::now();
  constexpr std::int64_t kKibibyte = 1024;
  CommandTimes times{
      .elapsed_s = Clock::get().seconds(end - shared_->start),
      .cpu_user_s = seconds(usage.ru_utime),
      .cpu_system_s = seconds(usage.ru_stime),
      .max_memory_bytes = usage.ru_maxrss * kKibibyte,
      .exit_code = WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status),
      .problem = shared_->error != 0 ? std::strerror(shared_->error) : "",
      .messages = {},
  };
  if (times.exit_code != 0) times.messages = messages();
  return times;
}

// Between fork and the program: only calls that are safe there.
void CommandTimer::execute(const std::vector<char*>& arguments, pid_t parent) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotStarted);
  dup2(nothing_.number(), STDIN_FILENO);
  dup2(nothing_.number(), STDOUT_FILENO);
  dup2(messages_.number(), STDERR_FILENO);
  shared_->start = Clock::now();
  execvp(arguments.front(), arguments.data());
  shared_->error = errno;
  _exit(kNotStarted);
}

std::string CommandTimer::messages() const {
  const off_t size = lseek(messages_.number(), 0, SEEK_END);
  std::array<char, kMessages_bytes> text{};
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(text.size()));
  const ssize_t bytes = pread(messages_.number(), text.data(), text.size(), from);
  return bytes > 0 ? std::string(text.data(), static_cast<std::size_t>(bytes)) : "";
}

void time_commands(RecordSink& writer) {
  CommandTimer timer;
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> arguments;
    try {
      nlohmann::json::parse(line).at("argv").get_to(arguments);
    } catch (const nlohmann::json::exception& error) {
      fail(fmt::format("not a request for a command: {}", error.what()));
    }
    if (arguments.empty()) fail("a request for a command without a program");
    const CommandTimes times = timer.run(std::move(arguments));
    writer.write({{"type", "command"},
                  {"elapsed_s", times.elapsed_s},
                  {"cpu_user_s", times.cpu_user_s},
                  {"cpu_system_s", times.cpu_system_s},
                  {"max_memory_bytes", times.max_memory_bytes},
                  {"exit_code", times.exit_code},
                  {"problem", times.problem},
                  {"messages", times.messages}});
  }
}

}  // namespace nameplate
