#include "disk/test_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "disk/content.h"
#include "machine/size_text.h"
#include "probe/error.h"

namespace nameplate {

namespace {

// "PREFIX HOST.PID.RANDOM": the name tells the owner, also on a file system that several machines share.
constexpr std::string_view kPrefix = ".nameplate-test-file-";
constexpr std::size_t kRandomDigits = 16;
// The owner removes the name at once; this is long enough for one that the scheduler or a file server delayed.
constexpr std::int64_t kLeftAfter_s = 600;
constexpr mode_t kOnlyMine = 0600;
constexpr std::int64_t kFillStep = 4 << 20;
constexpr double kReservedPart = 0.1;
constexpr double kReservedPartOfSmall = 0.5;
constexpr std::int64_t kReserved_bytes = std::int64_t{2} << 30;

std::string error_text() { return std::strerror(errno); }

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto result = std::filesystem::canonical(path, error);
  if (error) fail(fmt::format("file={}: {}", path, error.message()));
  return result.string();
}

FileLocation new_file(const std::string& path) {
  const std::filesystem::path file_path(path);
  const std::string parent = file_path.parent_path().empty() ? "." : file_path.parent_path().string();
  std::error_code ignored;
  if (!std::filesystem::is_directory(parent, ignored)) {
    fail(fmt::format("file={}: there is no directory {}", path, parent));
  }
  return {.directory = absolute(parent), .name = file_path.filename().string()};
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string random_name() {
  std::random_device random;
  return fmt::format("{}{}.{}.{:08x}{:08x}", kPrefix, host_name(), getpid(), random(), random());
}

// Returns the process that created a file of this name on this machine; nothing for any other name.
std::optional<pid_t> creator_of(std::string_view name) {
  const std::string prefix = fmt::format("{}{}.", kPrefix, host_name());
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.begin(), name.end(), pid);
  name.remove_prefix(static_cast<std::size_t>(end - name.begin()));
  const bool is_exact = error == std::errc() && pid > 0 && name.size() == 1 + kRandomDigits && name.front() == '.' &&
                        name.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
  return is_exact ? std::optional(pid) : std::nullopt;
}

bool is_running(pid_t pid) { return kill(pid, 0) == 0 || errno != ESRCH; }

// Creates a file and removes its name at once.
Descriptor make_nameless(int directory, const std::string& name) {
  Descriptor made(openat(directory, name.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, kOnlyMine));
  if (made.is_open()) unlinkat(directory, name.c_str(), 0);
  return made;
}

Descriptor make_file(const FileLocation& location) {
  if (location.name.empty()) {
    Descriptor made(open(location.directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOnlyMine));
    if (made.is_open() || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return made;
  }
  const Descriptor directory(open(location.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return {};
  if (!location.name.empty()) return make_nameless(directory.number(), location.name);
  Descriptor made = make_nameless(directory.number(), random_name());
  struct stat status {};
  // By the file system's clock, which may be that of a file server.
  if (made.is_open() && fstat(made.number(), &status) == 0) sweep_leftovers(directory.number(), status.st_mtime);
  return made;
}

}  // namespace

FileLocation locate_file(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return new_file(path);
    fail(fmt::format("file={}: {}", path, error_text()));
  }
  if (S_ISDIR(status.st_mode)) return {.directory = absolute(path), .name = {}};
  if (S_ISLNK(status.st_mode)) fail(fmt::format("file={} is a symbolic link; give its target", path));
  if (S_ISREG(status.st_mode)) {
    fail(fmt::format("file={} exists, and existing files are never written to; give a directory or a new file", path));
  }
  if (S_ISBLK(status.st_mode)) {
    fail(fmt::format("file={} is a device, which is never written to; --read-device {} reads it", path, path));
  }
  fail(fmt::format("file={}: not a directory or a new file", path));
}

std::int64_t room_for_files(const std::string& directory) {
  struct statvfs status {};
  if (statvfs(directory.c_str(), &status) != 0) fail(fmt::format("{}: {}", directory, error_text()));
  const auto unit = static_cast<double>(status.f_frsize);
  const double total = static_cast<double>(status.f_blocks) * unit;
  const double reserved =
      std::max(kReservedPart * total, std::min(kReservedPartOfSmall * total, static_cast<double>(kReserved_bytes)));
  return static_cast<std::int64_t>(static_cast<double>(status.f_bavail) * unit - reserved);
}

void require_room(const std::string& directory, std::int64_t bytes) {
  const std::int64_t room = room_for_files(directory);
  if (bytes <= room) return;
  refuse_for_now(fmt::format(
      "files of {} do not fit {}: {} may be used, because a tenth of a file system, and at least 2 GiB or half of it, "
      "must stay free; choose a smaller size",
      size_text(bytes), directory, size_text(std::max(room, std::int64_t{0}))));
}

void sweep_leftovers(int directory, std::int64_t now_s) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(openat(directory, ".", O_RDONLY | O_CLOEXEC)), closedir);
  if (!listing) return;
  while (const dirent* entry = readdir(listing.get())) {  // NOLINT(concurrency-mt-unsafe): a listing of its own
    const auto creator = creator_of(std::data(entry->d_name));
    struct stat status {};
    if (!creator || is_running(*creator) ||
        fstatat(directory, std::data(entry->d_name), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    const bool is_left =
        S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_mtime < now_s - kLeftAfter_s;
    if (is_left) unlinkat(directory, std::data(entry->d_name), 0);
  }
}

TestFile::TestFile(const FileLocation& location, std::int64_t bytes, Fill fill_with,
                   const std::function<bool()>& should_continue)
    : bytes_(bytes), name_(location.directory + "/" + (location.name.empty() ? "(nameless)" : location.name)) {
  require_room(location.directory, bytes);
  descriptor_ = make_file(location);
  if (!descriptor_.is_open()) fail(fmt::format("cannot create a file in {}: {}", location.directory, error_text()));
  if (fill_with == Fill::original) fill(should_continue);
}

TestFile::TestFile(const FileLocation& location, std::int64_t bytes, Descriptor descriptor)
    : descriptor_(std::move(descriptor)), bytes_(bytes), name_(location.directory + "/(nameless)") {}

std::uint64_t TestFile::content_seed() const {
  struct stat status {};
  fstat(descriptor_.number(), &status);
  return mixed(status.st_ino);
}

void TestFile::fill(const std::function<bool()>& should_continue) const {
  const OriginalContent content(content_seed());
  std::vector<std::byte> memory(static_cast<std::size_t>(std::min(kFillStep, bytes_)));
  for (std::int64_t at = 0; at < bytes_;) {
    if (!should_continue()) fail("stopped while the file was being created");
    const std::span part(memory.data(), static_cast<std::size_t>(std::min(kFillStep, bytes_ - at)));
    content.fill(part, static_cast<std::uint64_t>(at));
    const ssize_t written = pwrite(descriptor_.number(), part.data(), part.size(), at);
    if (written < 0 && errno != EINTR) fail(fmt::format("{}: cannot write at {}: {}", name_, at, error_text()));
    // A partial write continues where it ended, with the content of that offset.
    if (written > 0) at += written;
  }
  if (fdatasync(descriptor_.number()) != 0) fail(fmt::format("{}: fdatasync: {}", name_, error_text()));
}

Descriptor TestFile::open(int flags) const {
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor_.number());
  Descriptor reopened(::open(path.c_str(), flags | O_CLOEXEC));
  if (reopened.is_open()) return reopened;
  if ((flags & O_DIRECT) != 0 && errno == EINVAL) refuse("cache=direct: this file system has no O_DIRECT");
  fail(fmt::format("{}: cannot be opened again: {}", name_, error_text()));
}

std::int64_t TestFile::allocated_bytes() const {
  constexpr std::int64_t kUnit = 512;  // the unit of st_blocks, whatever the file system's block size
  struct stat status {};
  fstat(descriptor_.number(), &status);
  return status.st_blocks * kUnit;
}

void TestFile::complete(const std::function<bool()>& should_continue) const {
  struct stat status {};
  fstat(descriptor_.number(), &status);
  if (status.st_size < bytes_ || allocated_bytes() < bytes_) fill(should_continue);
}

void TestFile::empty(bool extend) const {
  if (ftruncate(descriptor_.number(), 0) != 0 || (extend && ftruncate(descriptor_.number(), bytes_) != 0)) {
    fail(fmt::format("{}: cannot be truncated: {}", name_, error_text()));
  }
}

}  // namespace nameplate
