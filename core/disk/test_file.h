// A file that the disk probes may write to. It has no name: it is made with O_TMPFILE, or where a file system has none,
// made under a random name and removed from its directory at once. So it never replaces a file, nobody else finds it,
// and the kernel takes it away when the last process that holds it ends, in whatever way.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "machine/descriptor.h"

namespace nameplate {

// The directory that `file=` means, as an absolute path without symbolic links, and the name in it where one is given.
struct FilePlace {
  std::string directory;
  std::string name;  // empty: of no interest
};

// Throws ProbeError(failed) with what is wrong: a symbolic link, a device, an existing file, no such directory.
FilePlace find_place(const std::string& path);

class TestFile {
 public:
  // What is done with the content while the file is made.
  enum class Fill {
    original,  // OriginalContent, on the device when this returns
    none,      // an empty file
  };

  // Throws ProbeError: skipped where it would leave less than a reserve of free space, failed otherwise. Long work ends
  // early when `is_wanted` becomes false.
  TestFile(const FilePlace& place, std::int64_t bytes, Fill fill, const std::function<bool()>& is_wanted);
  // Of one that another process made.
  TestFile(const FilePlace& place, std::int64_t bytes, Descriptor descriptor);

  int descriptor() const { return descriptor_.number(); }
  std::int64_t bytes() const { return bytes_; }
  // What the file system has given it until now; the rest follows when it is written.
  std::int64_t allocated_bytes() const;
  // For messages.
  const std::string& name() const { return name_; }
  // Of OriginalContent: different from file to file.
  std::uint64_t content_seed() const;

  // Opens it once more, with an offset of its own. Throws ProbeError: skipped where O_DIRECT is asked for and the file
  // system has none.
  Descriptor open(int flags) const;

  // Gives it its whole content again where parts are missing, after it was emptied.
  void complete(const std::function<bool()>& is_wanted) const;

  // Empties it; with `extend` it then has its size again, without blocks.
  void empty(bool extend) const;

 private:
  void fill(const std::function<bool()>& is_wanted) const;

  Descriptor descriptor_;
  std::int64_t bytes_;
  std::string name_;
};

// Bytes that the largest new file in a directory may have: what is free for this user without max(10 %, 2 GiB) of the
// file system, which stay free.
std::int64_t room_for_files(const std::string& directory);

// Throws ProbeError(skipped) where new files of so many bytes would leave less free than that.
void require_room(const std::string& directory, std::int64_t bytes);

// Removes test files that killed processes of this machine and user left in the open directory `directory`, where a
// file has a name for the instant before its maker takes it away. A file is removed only if its name is exactly that of
// a test file, names this host and a process that is gone, and it is older than ten minutes at `now_s` (Unix time by
// the clock of the file system).
void sweep_leftovers(int directory, std::int64_t now_s);

}  // namespace nameplate
