#include "mpi/request_lines.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace nameplate {

struct RequestLines::Shared {
  explicit Shared(std::atomic<bool>& stop) : stop_requested(stop) {}

  std::atomic<bool>& stop_requested;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> lines;
  bool is_over = false;

  void take(const std::string& line);
  void end();
};

void RequestLines::Shared::take(const std::string& line) {
  if (line == "stop") {
    stop_requested = true;
    end();
    return;
  }
  const std::scoped_lock lock(mutex);
  lines.push_back(line);
  changed.notify_one();
}

void RequestLines::Shared::end() {
  const std::scoped_lock lock(mutex);
  is_over = true;
  changed.notify_one();
}

// The thread may still be reading when the program ends, so it shares ownership of what it uses.
RequestLines::RequestLines(std::atomic<bool>& stop_requested) : shared_(std::make_shared<Shared>(stop_requested)) {
  std::thread([shared = shared_] {
    std::string rest;
    std::array<char, 4096> bytes{};
    for (;;) {
      const ssize_t length = read(STDIN_FILENO, bytes.data(), bytes.size());
      if (length < 0 && errno == EINTR) continue;
      if (length <= 0) break;
      rest.append(bytes.data(), static_cast<std::size_t>(length));
      for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
        shared->take(rest.substr(0, end));
        rest.erase(0, end + 1);
      }
    }
    if (!rest.empty()) shared->take(rest);
    shared->end();
  }).detach();
}

std::optional<std::string> RequestLines::next() {
  std::unique_lock lock(shared_->mutex);
  // A signal sets `stop_requested` without waking this thread.
  while (!shared_->stop_requested && !shared_->is_over && shared_->lines.empty()) {
    shared_->changed.wait_for(lock, std::chrono::milliseconds(100));
  }
  if (shared_->stop_requested || shared_->lines.empty()) return std::nullopt;
  std::string line = std::move(shared_->lines.front());
  shared_->lines.pop_front();
  return line;
}

}  // namespace nameplate
