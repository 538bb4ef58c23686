// A file that the disk probes may write to. It has no name: it is created with O_TMPFILE or, if the file system lacks
// that, under a random name that is removed at once. So it never replaces a file, nobody else finds it, and the kernel
// deletes it when the last process that holds it ends, however that happens.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "machine/descriptor.h"

namespace nameplate {

// The directory that `file=` means, as an absolute path without symbolic links, and the file name in it, if given.
struct FileLocation {
  std::string directory;
  std::string name;  // empty if irrelevant
};

// Throws ProbeError(failed) and says what is wrong: a symbolic link, a device, an existing file, a missing directory.
FileLocation locate_file(const std::string& path);

class TestFile {
 public:
  // The content that a file gets when it is created.
  enum class Fill {
    original,  // OriginalContent, written to the device
    none,      // an empty file
  };

  // Throws ProbeError: skipped if it would leave less free space than the reserve, failed otherwise. Long work stops
  // when `should_continue` returns false.
  TestFile(const FileLocation& location, std::int64_t bytes, Fill fill, const std::function<bool()>& should_continue);
  // Takes over a file that another process created.
  TestFile(const FileLocation& location, std::int64_t bytes, Descriptor descriptor);

  int descriptor() const { return descriptor_.number(); }
  std::int64_t bytes() const { return bytes_; }
  // Returns the space that is allocated so far; the rest follows when it is written.
  std::int64_t allocated_bytes() const;
  // For messages.
  const std::string& name() const { return name_; }
  // The seed of OriginalContent, different for every file.
  std::uint64_t content_seed() const;

  // Opens the file again, with its own offset. Throws ProbeError: skipped if O_DIRECT is requested and the file system
  // has none.
  Descriptor open(int flags) const;

  // Restores the whole content if parts are missing after truncation.
  void complete(const std::function<bool()>& should_continue) const;

  // Truncates the file; `extend` then restores its size, without blocks.
  void empty(bool extend) const;

 private:
  void fill(const std::function<bool()>& should_continue) const;

  Descriptor descriptor_;
  std::int64_t bytes_;
  std::string name_;
};

// Returns the maximum size of a new file in a directory: the free space for this user minus a reserve of 10 % of the
// file system, and at least 2 GiB or half of it.
std::int64_t room_for_files(const std::string& directory);

// Throws ProbeError(skipped) if new files of this size would use the reserve.
void require_room(const std::string& directory, std::int64_t bytes);

// Removes test files that killed processes of this machine and user left in the open directory `directory`, where a
// file has a name for the instant before its creator removes it. A file is removed only if its name is exactly that of
// a test file, names this host and a process that no longer exists, and it is older than ten minutes at `now_s` (Unix
// time by the clock of the file system).
void sweep_leftovers(int directory, std::int64_t now_s);

}  // namespace nameplate
