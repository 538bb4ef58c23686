#include "disk/retained_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "disk/passed_file.h"

namespace nameplate {

namespace {

bool is_reusable(int descriptor, std::int64_t bytes) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0 && status.st_size <= bytes;
}

}  // namespace

void RetainedFiles::connect(int keeper) {
  keeper_ = keeper;
  fcntl(keeper, F_SETFD, FD_CLOEXEC);  // not inherited by programs that this one starts
  while (auto passed = receive_file(keeper_)) {
    if (passed->file.is_open()) waiting_.insert_or_assign(passed->key, std::move(passed->file));
  }
}

const TestFile& RetainedFiles::obtain(const std::string& key, const FileLocation& location, std::int64_t bytes,
                                      const std::function<std::unique_ptr<TestFile>()>& make) {
  auto& file = files_[key];
  if (file) return *file;
  if (const auto match = waiting_.find(key); match != waiting_.end() && is_reusable(match->second.number(), bytes)) {
    file = std::make_unique<TestFile>(location, bytes, std::move(match->second));
    waiting_.erase(match);
    return *file;
  }
  file = make();
  // If nobody takes it, the next process creates its own.
  if (keeper_ >= 0) pass_file(keeper_, key, file->descriptor());
  return *file;
}

}  // namespace nameplate
