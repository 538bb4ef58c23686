// pread and pwrite: one system call per operation, with its offset.

#include <unistd.h>

#include "disk/sync_io.h"

namespace nameplate {

namespace {

class Pread : public PlainLibrary {
 public:
  Pread(const IoPart& part, const IoSettings& settings)
      : descriptor_(part.descriptor), block_bytes_(settings.block_bytes) {}

  ssize_t read(std::byte* data, std::uint64_t offset) const {
    return ::pread(descriptor_, data, block_bytes_, static_cast<off_t>(offset));
  }
  ssize_t write(const std::byte* data, std::uint64_t offset) const {
    return ::pwrite(descriptor_, data, block_bytes_, static_cast<off_t>(offset));
  }
  int sync(std::uint64_t /*offset*/) const { return fdatasync(descriptor_); }
  int flush(bool to_device) const { return to_device ? fdatasync(descriptor_) : 0; }

 private:
  int descriptor_;
  std::uint64_t block_bytes_;
};

const IoRegistration kPread({.name = "pread", .make = make_io<SyncIo<Pread>>});

}  // namespace

}  // namespace nameplate
