#include "disk/test_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include "disk/content.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr const char* kPrefix = ".nameplate-";
constexpr mode_t kOnlyMine = 0600;
constexpr std::int64_t kFillStep = 4 << 20;
constexpr double kReservedPart = 0.1;
constexpr std::int64_t kReserved_bytes = std::int64_t{2} << 30;

std::string error_text() { return std::strerror(errno); }

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto result = std::filesystem::canonical(path, error);
  if (error) fail(fmt::format("file={}: {}", path, error.message()));
  return result.string();
}

FilePlace new_file(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string parent = whole.parent_path().empty() ? "." : whole.parent_path().string();
  std::error_code ignored;
  if (!std::filesystem::is_directory(parent, ignored)) {
    fail(fmt::format("file={}: there is no directory {}", path, parent));
  }
  return {.directory = absolute(parent), .name = whole.filename().string()};
}

std::string random_name() {
  std::random_device random;
  return fmt::format("{}{:08x}{:08x}", kPrefix, random(), random());
}

// Made and at once without a name.
Descriptor make_nameless(const std::string& path) {
  Descriptor made(open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, kOnlyMine));
  if (made.is_open()) unlink(path.c_str());
  return made;
}

Descriptor make_file(const FilePlace& place) {
  if (!place.name.empty()) return make_nameless(place.directory + "/" + place.name);
  Descriptor made(open(place.directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOnlyMine));
  if (made.is_open() || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return made;
  sweep_leftovers(place.directory);
  return make_nameless(place.directory + "/" + random_name());
}

}  // namespace

FilePlace find_place(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return new_file(path);
    fail(fmt::format("file={}: {}", path, error_text()));
  }
  if (S_ISDIR(status.st_mode)) return {.directory = absolute(path), .name = {}};
  if (S_ISLNK(status.st_mode)) fail(fmt::format("file={} is a symbolic link: name what it points to", path));
  if (S_ISREG(status.st_mode)) {
    fail(fmt::format("file={} exists, and no existing file is written to: name a directory, or a new file", path));
  }
  if (S_ISBLK(status.st_mode)) {
    fail(fmt::format("file={} is a device, and none is written to; --read-device {} reads it", path, path));
  }
  fail(fmt::format("file={} is neither a directory nor a new file", path));
}

std::int64_t room_for_files(const std::string& directory) {
  struct statvfs status {};
  if (statvfs(directory.c_str(), &status) != 0) fail(fmt::format("{}: {}", directory, error_text()));
  const auto unit = static_cast<double>(status.f_frsize);
  const double reserved =
      std::max(kReservedPart * static_cast<double>(status.f_blocks) * unit, static_cast<double>(kReserved_bytes));
  return static_cast<std::int64_t>(static_cast<double>(status.f_bavail) * unit - reserved);
}

void require_room(const std::string& directory, std::int64_t bytes) {
  const std::int64_t room = room_for_files(directory);
  if (bytes <= room) return;
  constexpr double kGiga = 1e9;
  refuse(fmt::format(
      "files of {:.1f} GB do not fit {}: {:.1f} GB may be used, since a tenth and at least 2 GiB of a "
      "file system stay free",
      static_cast<double>(bytes) / kGiga, directory, static_cast<double>(std::max(room, std::int64_t{0})) / kGiga));
}

void sweep_leftovers(const std::string& directory) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    struct stat status {};
    const std::string path = entry.path().string();
    if (!entry.path().filename().string().starts_with(kPrefix) || lstat(path.c_str(), &status) != 0) continue;
    if (S_ISREG(status.st_mode) && status.st_uid == geteuid()) unlink(path.c_str());
  }
}

TestFile::TestFile(const FilePlace& place, std::int64_t bytes, Fill fill_with, const std::function<bool()>& is_wanted)
    : bytes_(bytes), name_(place.directory + "/" + (place.name.empty() ? "(nameless)" : place.name)) {
  require_room(place.directory, bytes);
  descriptor_ = make_file(place);
  if (!descriptor_.is_open()) fail(fmt::format("cannot make a file in {}: {}", place.directory, error_text()));
  if (fill_with == Fill::original) fill(is_wanted);
}

TestFile::TestFile(const FilePlace& place, std::int64_t bytes, Descriptor descriptor)
    : descriptor_(std::move(descriptor)), bytes_(bytes), name_(place.directory + "/(nameless)") {}

std::uint64_t TestFile::content_seed() const {
  struct stat status {};
  fstat(descriptor_.number(), &status);
  return mixed(status.st_ino);
}

void TestFile::fill(const std::function<bool()>& is_wanted) const {
  const OriginalContent content(content_seed());
  std::vector<std::byte> memory(static_cast<std::size_t>(std::min(kFillStep, bytes_)));
  for (std::int64_t at = 0; at < bytes_;) {
    if (!is_wanted()) fail("stopped while its file was made");
    const std::span part(memory.data(), static_cast<std::size_t>(std::min(kFillStep, bytes_ - at)));
    content.fill(part, static_cast<std::uint64_t>(at));
    const ssize_t written = pwrite(descriptor_.number(), part.data(), part.size(), at);
    if (written < 0 && errno != EINTR) fail(fmt::format("{}: writing at {}: {}", name_, at, error_text()));
    // What was written in part is written again from there, with its own content.
    if (written > 0) at += written;
  }
  if (fdatasync(descriptor_.number()) != 0) fail(fmt::format("{}: fdatasync: {}", name_, error_text()));
}

Descriptor TestFile::open(int flags) const {
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor_.number());
  Descriptor again(::open(path.c_str(), flags | O_CLOEXEC));
  if (again.is_open()) return again;
  if ((flags & O_DIRECT) != 0 && errno == EINVAL) refuse("cache=direct: this file system has no O_DIRECT");
  fail(fmt::format("{}: cannot be opened once more: {}", name_, error_text()));
}

void TestFile::complete(const std::function<bool()>& is_wanted) const {
  constexpr std::int64_t kUnit = 512;  // of st_blocks, whatever the file system's own blocks are
  struct stat status {};
  fstat(descriptor_.number(), &status);
  if (status.st_size < bytes_ || status.st_blocks * kUnit < bytes_) fill(is_wanted);
}

void TestFile::empty(bool extend) const {
  if (ftruncate(descriptor_.number(), 0) != 0 || (extend && ftruncate(descriptor_.number(), bytes_) != 0)) {
    fail(fmt::format("{}: cannot be emptied: {}", name_, error_text()));
  }
}

}  // namespace nameplate
