#include "batch/core_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "machine/spawn.h"
#include "net/key_file.h"
#include "probe/error.h"

namespace nameplate {

namespace {

// The limit of the Python package, too.
constexpr std::size_t kMaxLine_bytes = std::size_t{64} << 20U;

// Starts this program again. A signal of the terminal reaches only its parent, which ends it properly.
pid_t start(std::vector<std::string> arguments, const SecretText& key, int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  pid_t process = -1;
  SecretText entry = key_variable(key);
  const std::vector<char*> with_key = environment_with(entry);
  const int error = posix_spawn(&process, program_path().c_str(), &actions, &attributes,
                                spawn_arguments(arguments).data(), key.empty() ? environ : with_key.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(fmt::format("cannot start nameplate-core again: {}", std::strerror(error)));
  return process;
}

// Waits for the end of a process that has closed its output, and kills it if it does not end. Returns its status.
int wait_for_end(pid_t process) {
  constexpr timespec kStep{.tv_sec = 0, .tv_nsec = 10'000'000};
  constexpr int kSteps = 500;
  int status = 0;
  for (int step = 0; step < kSteps; ++step) {
    if (waitpid(process, &status, WNOHANG) != 0) return status;
    nanosleep(&kStep, nullptr);
  }
  kill(process, SIGKILL);
  waitpid(process, &status, 0);
  return status;
}

}  // namespace

CoreProcess::CoreProcess(const std::vector<std::string>& options, const SecretText& key, Descriptor keeper) {
  Pipe requests;
  Pipe records;
  std::vector<std::string> arguments = {"nameplate-core", "--die-with-parent", std::to_string(getpid()), "--keeper",
                                        std::to_string(keeper.number())};
  arguments.insert(arguments.end(), options.begin(), options.end());
  keeper.let_inherit();
  process_ = start(arguments, key, requests.reader.number(), records.writer.number());
  input_ = std::move(requests.writer);
  output_ = std::move(records.reader);
}

CoreProcess::~CoreProcess() {
  if (has_ended_) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void CoreProcess::send(const nlohmann::json& request) const {
  const std::string line = request.dump() + "\n";
  // A request fits into the pipe, which is empty; if the process is gone, reading its records tells.
  [[maybe_unused]] const ssize_t written = write(input_.number(), line.data(), line.size());
}

std::optional<nlohmann::json> CoreProcess::buffered_record() {
  const auto length = buffer_.find('\n');
  if (length == std::string::npos) return std::nullopt;
  auto record = nlohmann::json::parse(buffer_.substr(0, length), nullptr, false);
  buffer_.erase(0, length + 1);
  if (record.is_object() && record.contains("type")) return record;
  kill(process_, SIGKILL);
  end("nameplate-core wrote a line that is not a record");
  return std::nullopt;
}

// Returns whether something happened within the deadline, or the process was killed for it; false after a signal.
bool CoreProcess::read_more(double deadline_s) {
  pollfd poll_entry{.fd = output_.number(), .events = POLLIN};
  const timespec deadline{.tv_sec = static_cast<time_t>(deadline_s), .tv_nsec = 0};
  // Signals are blocked but for this wait, so that none is overlooked.
  sigset_t none;
  sigemptyset(&none);
  const int ready = ppoll(&poll_entry, 1, &deadline, &none);
  if (ready < 0 && errno == EINTR) return false;
  if (ready == 0) {
    kill(process_, SIGKILL);
    end("nameplate-core did not answer before its deadline and was killed");
    return true;
  }
  std::array<char, 1 << 16> text{};
  const ssize_t got = read(output_.number(), text.data(), text.size());
  if (got < 0 && errno == EINTR) return false;
  if (got > 0) buffer_.append(text.data(), static_cast<std::size_t>(got));
  if (buffer_.size() > kMaxLine_bytes && buffer_.find('\n') == std::string::npos) {
    kill(process_, SIGKILL);
    end("nameplate-core wrote a line that is longer than any record");
    return true;
  }
  if (got <= 0) end("");
  return true;
}

void CoreProcess::end(const std::string& how) {
  const int status = wait_for_end(process_);
  has_ended_ = true;
  if (!how.empty()) {
    how_it_ended_ = how;
  } else if (WIFSIGNALED(status)) {
    how_it_ended_ = fmt::format("nameplate-core was killed by signal {}", WTERMSIG(status));
  } else {
    how_it_ended_ = fmt::format("nameplate-core ended with exit code {}", WEXITSTATUS(status));
  }
}

void CoreProcess::interrupt() const {
  if (!has_ended_) kill(process_, SIGINT);
}

void CoreProcess::close() {
  input_ = Descriptor();
  constexpr double kEnd_s = 20;
  while (!has_ended_ && record(kEnd_s, [] {})) {
  }
}

}  // namespace nameplate
