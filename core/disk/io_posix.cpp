// lseek, read and write, the traditional calls. The file's own offset advances with every operation, so that
// consecutive blocks need no lseek.

#include <unistd.h>

#include "disk/sync_io.h"

namespace nameplate {

namespace {

class Posix : public PlainLibrary {
 public:
  Posix(const IoPart& part, const IoSettings& settings)
      : descriptor_(part.descriptor), block_bytes_(settings.block_bytes) {}

  ssize_t read(std::byte* data, std::uint64_t offset) {
    return go_to(offset) ? moved(::read(descriptor_, data, block_bytes_)) : -1;
  }
  ssize_t write(const std::byte* data, std::uint64_t offset) {
    return go_to(offset) ? moved(::write(descriptor_, data, block_bytes_)) : -1;
  }
  int sync(std::uint64_t /*offset*/) const { return fdatasync(descriptor_); }
  int flush(bool to_device) const { return to_device ? fdatasync(descriptor_) : 0; }

 private:
  bool go_to(std::uint64_t offset) {
    if (offset == at_) return true;
    at_ = offset;
    return lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) >= 0;
  }
  ssize_t moved(ssize_t bytes) {
    if (bytes > 0) at_ += static_cast<std::uint64_t>(bytes);
    return bytes;
  }

  int descriptor_;
  std::uint64_t block_bytes_;
  std::uint64_t at_ = 0;
};

const IoRegistration kPosix({.name = "posix", .make = make_io<SyncIo<Posix>>});

}  // namespace

}  // namespace nameplate
