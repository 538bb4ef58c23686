#include "record/writer.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace nameplate {

namespace {

bool is_regular(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

RecordWriter::RecordWriter(int descriptor, const std::atomic<bool>* stop_requested)
    : descriptor_(descriptor),
      stop_requested_(stop_requested),
      max_write_bytes_(stop_requested == nullptr || is_regular(descriptor) ? std::numeric_limits<std::size_t>::max()
                                                                           : PIPE_BUF) {}

void RecordWriter::write(const nlohmann::json& record) {
  write_line(record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void RecordWriter::write_line(std::string line) const {
  line += '\n';
  write_text(line);
}

void RecordWriter::write_text(std::string_view text) const {
  while (!text.empty()) {
    if (stop_requested_ != nullptr) wait_for_room();
    const ssize_t written = ::write(descriptor_, text.data(), std::min(text.size(), max_write_bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "cannot write a record");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void RecordWriter::wait_for_room() const {
  constexpr int kTimeout_s = 5;
  constexpr timespec kSecond{.tv_sec = 1, .tv_nsec = 0};
  pollfd room{.fd = descriptor_, .events = POLLOUT, .revents = 0};
  sigset_t none;
  sigemptyset(&none);
  for (int waited_s = 0; waited_s < kTimeout_s; waited_s += *stop_requested_ ? 1 : 0) {
    if (ppoll(&room, 1, &kSecond, &none) > 0) return;
  }
  throw std::system_error(ETIMEDOUT, std::generic_category(), "cannot write a record");
}

void print_message(std::string_view text) noexcept {
  static const std::atomic<bool> is_bounded = true;
  static std::atomic<bool> is_lost = false;
  if (is_lost) return;
  try {
    RecordWriter(STDERR_FILENO, &is_bounded).write_text(text);
  } catch (const std::system_error&) {
    is_lost = true;
  }
}

}  // namespace nameplate
