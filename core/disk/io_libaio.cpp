// The kernel's older asynchronous interface, through libaio. It keeps operations in flight only with cache=direct; with
// the page cache each completes during submission.

#include <fmt/format.h>
#include <libaio.h>
#include <sys/uio.h>

#include <cmath>
#include <cstring>

#include "disk/async_io.h"
#include "probe/error.h"

namespace nameplate {

namespace {

class Libaio {
 public:
  Libaio(const Buffer& /*buffers*/, const IoPart& part, const IoSettings& settings, unsigned slots)
      : descriptor_(part.descriptor), block_bytes_(settings.block_bytes), blocks_(slots), events_(settings.depth) {
    added_.reserve(slots);
    pointers_.reserve(slots);
    const int error = io_setup(static_cast<int>(settings.depth), &context_);
    if (error == -EPERM || error == -ENOSYS)
      refuse("library=libaio: asynchronous I/O of the kernel is not permitted here");
    if (error == -EAGAIN) refuse_for_now("library=libaio: more operations in flight than fs.aio-max-nr allows");
    if (error < 0) fail(fmt::format("library=libaio: cannot create a context: {}", std::strerror(-error)));
  }
  Libaio(const Libaio&) = delete;
  Libaio& operator=(const Libaio&) = delete;
  Libaio(Libaio&&) = delete;
  Libaio& operator=(Libaio&&) = delete;
  ~Libaio() { io_destroy(context_); }

  static bool has_registered_buffers() { return false; }

  void add(bool write, unsigned slot, std::byte* data, std::uint64_t offset, bool to_device) {
    iocb& block = blocks_[slot];
    if (write) {
      io_prep_pwrite(&block, descriptor_, data, block_bytes_, static_cast<long long>(offset));
    } else {
      io_prep_pread(&block, descriptor_, data, block_bytes_, static_cast<long long>(offset));
    }
    if (to_device) block.aio_rw_flags = RWF_DSYNC;
    added_.push_back(slot);
  }

  // Operations that the kernel refuses are not in flight; the next call submits them again, so nothing waits for them.
  int submit() {
    pointers_.clear();
    for (const unsigned slot : added_) pointers_.push_back(&blocks_[slot]);
    while (!pointers_.empty()) {
      const int taken = io_submit(context_, static_cast<long>(pointers_.size()), pointers_.data());
      if (taken < 0 && taken != -EINTR && taken != -EAGAIN) return -taken;
      if (taken <= 0) continue;
      pointers_.erase(pointers_.begin(), pointers_.begin() + taken);
      added_.erase(added_.begin(), added_.begin() + taken);
    }
    return 0;
  }

  int submit_and_wait(unsigned min_completions, double max_wait_s) {
    if (const int number = submit()) return number;
    constexpr double kNanoseconds = 1e9;
    const double full_s = std::floor(max_wait_s);
    timespec time{.tv_sec = static_cast<time_t>(full_s),
                  .tv_nsec = static_cast<long>((max_wait_s - full_s) * kNanoseconds)};
    int result = 0;
    do {
      result = io_getevents(context_, min_completions, static_cast<long>(events_.size()), events_.data(),
                            max_wait_s > 0 ? &time : nullptr);
    } while (result == -EINTR);
    ended_ = result > 0 ? static_cast<std::size_t>(result) : 0;
    return result < 0 ? -result : 0;
  }

  template <class Use>
  void take_completions(Use use) {
    const std::size_t ended = std::exchange(ended_, 0);
    for (std::size_t i = 0; i < ended; ++i) {
      const io_event& event = events_[i];
      use(static_cast<unsigned>(event.obj - blocks_.data()), static_cast<std::int64_t>(event.res));
    }
  }

 private:
  io_context_t context_ = nullptr;
  int descriptor_;
  std::uint64_t block_bytes_;
  std::vector<iocb> blocks_;  // by slot
  std::vector<unsigned> added_;
  std::vector<iocb*> pointers_;
  std::vector<io_event> events_;
  std::size_t ended_ = 0;
};

const IoRegistration kLibaio({.name = "libaio", .make = make_io<AsyncIo<Libaio>>, .has_queue = true});

}  // namespace

}  // namespace nameplate
