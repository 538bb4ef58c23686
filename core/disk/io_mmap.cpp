// Loads from and stores to the mapped file: a block is copied to or from a buffer. An I/O error arrives as SIGBUS and
// becomes an error here.

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstring>

#include "disk/sync_io.h"
#include "machine/page_size.h"
#include "probe/error.h"

namespace nameplate {

namespace {

thread_local sigjmp_buf t_broken_off;
thread_local volatile sig_atomic_t t_is_guarded = 0;

void install_handler() {
  static const bool kInstalled = [] {
    struct sigaction action {};
    action.sa_handler = [](int number) {
      if (t_is_guarded != 0) siglongjmp(t_broken_off, 1);  // NOLINT: the way out of a faulting load
      std::signal(number, SIG_DFL);
      std::raise(number);
    };
    action.sa_flags = SA_NODEFER;
    return sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  if (!kInstalled) fail("cannot handle SIGBUS, which a mapped file needs");
}

class Mmap {
 public:
  Mmap(const IoPart& part, const IoSettings& settings)
      : block_bytes_(settings.block_bytes),
        map_offset_(part.offset / page_bytes() * page_bytes()),
        bytes_(part.offset + part.blocks * settings.block_bytes - map_offset_),
        descriptor_(part.descriptor) {
    install_handler();
    const int rights = PROT_READ | (settings.op == IoOp::read ? 0 : PROT_WRITE);
    void* const mapped = mmap(nullptr, bytes_, rights, MAP_SHARED, part.descriptor, static_cast<off_t>(map_offset_));
    if (mapped == MAP_FAILED) {  // NOLINT: the macro casts
      const int error = errno;
      const std::string reason = fmt::format("library=mmap: cannot map the file: {}", std::strerror(error));
      if (error == ENOMEM) refuse_for_now(reason);
      refuse(reason);
    }
    memory_ = static_cast<std::byte*>(mapped);
  }
  Mmap(const Mmap&) = delete;
  Mmap& operator=(const Mmap&) = delete;
  Mmap(Mmap&&) = delete;
  Mmap& operator=(Mmap&&) = delete;
  ~Mmap() { munmap(memory_, bytes_); }

  ssize_t read(std::byte* data, std::uint64_t offset) const {
    std::memcpy(data, memory_ + (offset - map_offset_), block_bytes_);
    return static_cast<ssize_t>(block_bytes_);
  }
  ssize_t write(const std::byte* data, std::uint64_t offset) const {
    std::memcpy(memory_ + (offset - map_offset_), data, block_bytes_);
    return static_cast<ssize_t>(block_bytes_);
  }
  int sync(std::uint64_t offset) const {
    const std::uint64_t first = (offset - map_offset_) / page_bytes() * page_bytes();
    return msync(memory_ + first, offset - map_offset_ + block_bytes_ - first, MS_SYNC);
  }
  int flush(bool to_device) const { return to_device ? fdatasync(descriptor_) : 0; }
  // Pages that are still mapped cannot leave the page cache.
  void forget() { madvise(memory_, bytes_, MADV_DONTNEED); }

  template <class Body>
  bool guarded(Body body) {
    if (sigsetjmp(t_broken_off, 1) != 0) {  // NOLINT
      t_is_guarded = 0;
      errno = EIO;
      return false;
    }
    t_is_guarded = 1;
    body();
    t_is_guarded = 0;
    return true;
  }

 private:
  std::uint64_t block_bytes_;
  std::uint64_t map_offset_;
  std::uint64_t bytes_;
  int descriptor_;
  std::byte* memory_ = nullptr;
};

const IoRegistration kMmap({.name = "mmap",
                            .make = make_io<SyncIo<Mmap>>,
                            .maps_file = true,
                            .why_not_direct = "a mapped file always uses the page cache"});

}  // namespace

}  // namespace nameplate
