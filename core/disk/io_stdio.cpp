// fread and fwrite of the C library with its default buffer: small blocks do not each cost a system call.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "disk/sync_io.h"
#include "probe/error.h"

namespace nameplate {

namespace {

class Stdio : public PlainLibrary {
 public:
  Stdio(const IoPart& part, const IoSettings& settings)
      : file_(fdopen(dup(part.descriptor), settings.op == IoOp::read ? "r" : "r+")),
        block_bytes_(settings.block_bytes) {
    if (file_ == nullptr) fail(fmt::format("fdopen: {}", std::strerror(errno)));
  }
  Stdio(const Stdio&) = delete;
  Stdio& operator=(const Stdio&) = delete;
  Stdio(Stdio&&) = delete;
  Stdio& operator=(Stdio&&) = delete;
  ~Stdio() { std::fclose(file_); }  // NOLINT: a FILE has no other owner

  ssize_t read(std::byte* data, std::uint64_t offset) {
    return go_to(offset, Last::read) ? moved(std::fread(data, 1, block_bytes_, file_)) : -1;
  }
  ssize_t write(const std::byte* data, std::uint64_t offset) {
    return go_to(offset, Last::write) ? moved(std::fwrite(data, 1, block_bytes_, file_)) : -1;
  }
  int sync(std::uint64_t /*offset*/) { return flush(true); }
  int flush(bool to_device) {
    if (std::fflush(file_) != 0) return -1;
    return to_device ? fdatasync(fileno(file_)) : 0;
  }
  // Seeking elsewhere drops the library's buffer.
  void forget() {
    std::fflush(file_);
    std::fseek(file_, 0, SEEK_END);
    at_ = kElsewhere;
  }

 private:
  enum class Last { nothing, read, write };
  static constexpr std::uint64_t kElsewhere = ~std::uint64_t{0};

  // The standard requires a seek between a read and a write.
  bool go_to(std::uint64_t offset, Last now) {
    if (offset == at_ && (now == last_ || last_ == Last::nothing)) {
      last_ = now;
      return true;
    }
    last_ = now;
    at_ = offset;
    return fseeko(file_, static_cast<off_t>(offset), SEEK_SET) == 0;
  }
  ssize_t moved(std::size_t bytes) {
    at_ += bytes;
    return bytes == 0 && std::ferror(file_) != 0 ? -1 : static_cast<ssize_t>(bytes);
  }

  std::FILE* file_;
  std::uint64_t block_bytes_;
  std::uint64_t at_ = 0;
  Last last_ = Last::nothing;
};

const IoRegistration kStdio({.name = "stdio",
                             .make = make_io<SyncIo<Stdio>>,
                             .why_not_direct = "its own buffer is not aligned as O_DIRECT requires"});

}  // namespace

}  // namespace nameplate
