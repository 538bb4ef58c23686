// io_uring (Axboe 2019) through liburing: one ring per worker, registered buffers and file, completions processed only
// on request.

#include <fmt/format.h>
#include <liburing.h>

#include <array>
#include <cmath>
#include <cstring>

#include "disk/async_io.h"
#include "probe/error.h"

namespace nameplate {

namespace {

// From the flags of recent kernels to the flags that every kernel has.
constexpr std::array<unsigned, 3> kFlags = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN,
    IORING_SETUP_COOP_TASKRUN,
    0,
};

[[noreturn]] void refuse_ring(int number) {
  if (number == EPERM) {
    refuse("library=uring: io_uring is blocked here, by seccomp or by kernel.io_uring_disabled");
  }
  if (number == ENOSYS) refuse("library=uring: this kernel has no io_uring");
  if (number == ENOMEM) fail("library=uring: cannot create a ring within the locked-memory limit (ulimit -l)");
  fail(fmt::format("library=uring: cannot create a ring: {}", std::strerror(number)));
}

class Uring {
 public:
  Uring(const Buffer& buffers, const IoPart& part, const IoSettings& settings, unsigned /*slots*/)
      : block_bytes_(static_cast<unsigned>(settings.block_bytes)) {
    int error = -EINVAL;
    for (const unsigned flags : kFlags) {
      io_uring_params params{};
      params.flags = flags;
      error = io_uring_queue_init_params(settings.depth, &ring_, &params);
      if (error != -EINVAL) break;
    }
    if (error < 0) refuse_ring(-error);
    const iovec memory{.iov_base = buffers.data(), .iov_len = buffers.size_bytes()};
    // Fails if the locked-memory limit is low.
    registered_buffers_ = io_uring_register_buffers(&ring_, &memory, 1) == 0;
    registered_file_ = io_uring_register_files(&ring_, &part.descriptor, 1) == 0;
    descriptor_ = registered_file_ ? 0 : part.descriptor;
    io_uring_register_ring_fd(&ring_);
  }
  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;
  Uring(Uring&&) = delete;
  Uring& operator=(Uring&&) = delete;
  ~Uring() { io_uring_queue_exit(&ring_); }

  bool has_registered_buffers() const { return registered_buffers_; }

  void add(bool write, unsigned slot, std::byte* data, std::uint64_t offset, bool to_device) {
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    if (write && registered_buffers_) {
      io_uring_prep_write_fixed(entry, descriptor_, data, block_bytes_, offset, 0);
    } else if (write) {
      io_uring_prep_write(entry, descriptor_, data, block_bytes_, offset);
    } else if (registered_buffers_) {
      io_uring_prep_read_fixed(entry, descriptor_, data, block_bytes_, offset, 0);
    } else {
      io_uring_prep_read(entry, descriptor_, data, block_bytes_, offset);
    }
    if (registered_file_) entry->flags |= IOSQE_FIXED_FILE;
    if (to_device) entry->rw_flags = RWF_DSYNC;
    entry->user_data = slot;
  }

  int submit() {
    const int result = io_uring_submit(&ring_);
    return result >= 0 ? 0 : -result;
  }

  int submit_and_wait(unsigned min_completions, double max_wait_s) {
    int result = 0;
    do {
      if (max_wait_s > 0) {
        constexpr double kNanoseconds = 1e9;
        const double full_s = std::floor(max_wait_s);
        __kernel_timespec time{.tv_sec = static_cast<std::int64_t>(full_s),
                               .tv_nsec = static_cast<long long>((max_wait_s - full_s) * kNanoseconds)};
        io_uring_cqe* unused = nullptr;
        result = io_uring_submit_and_wait_timeout(&ring_, &unused, min_completions, &time, nullptr);
      } else {
        result = io_uring_submit_and_wait(&ring_, min_completions);
      }
    } while (result == -EINTR);
    return result >= 0 || result == -ETIME ? 0 : -result;
  }

  template <class Use>
  void take_completions(Use use) {
    unsigned head = 0;
    unsigned count = 0;
    io_uring_cqe* entry = nullptr;
    io_uring_for_each_cqe(&ring_, head, entry) {
      ++count;
      // Before Linux 5.11, liburing waits with a time limit by an operation of its own, which also ends.
      if (entry->user_data == LIBURING_UDATA_TIMEOUT) continue;
      use(static_cast<unsigned>(entry->user_data), static_cast<std::int64_t>(entry->res));
    }
    io_uring_cq_advance(&ring_, count);
  }

 private:
  io_uring ring_{};
  unsigned block_bytes_;
  int descriptor_ = -1;
  bool registered_buffers_ = false;
  bool registered_file_ = false;
};

const IoRegistration kUring({.name = "uring", .make = make_io<AsyncIo<Uring>>, .has_queue = true});

}  // namespace

}  // namespace nameplate
