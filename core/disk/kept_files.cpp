#include "disk/kept_files.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <span>

namespace nameplate {

namespace {

constexpr std::size_t kLongestKey = 8192;

// A message with room for one descriptor besides its text.
struct Message {
  explicit Message(std::span<char> text) : part{.iov_base = text.data(), .iov_len = text.size()} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }

  iovec part;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
};

bool is_whole(int descriptor, std::int64_t bytes) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0 && status.st_size <= bytes;
}

}  // namespace

void KeptFiles::connect(int keeper) {
  keeper_ = keeper;
  fcntl(keeper, F_SETFD, FD_CLOEXEC);  // not inherited by programs that this one starts
  receive();
}

void KeptFiles::receive() {
  std::array<char, kLongestKey> text{};
  for (;;) {
    Message message(text);
    const ssize_t bytes = recvmsg(keeper_, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (bytes <= 0) return;
    const cmsghdr* const extra = CMSG_FIRSTHDR(&message.header);
    if (extra == nullptr || extra->cmsg_type != SCM_RIGHTS) continue;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(extra), sizeof(descriptor));
    waiting_.insert_or_assign(std::string(text.data(), static_cast<std::size_t>(bytes)), Descriptor(descriptor));
  }
}

void KeptFiles::send(const std::string& key, int descriptor) const {
  if (keeper_ < 0 || key.size() > kLongestKey) return;
  std::string text = key;
  Message message(text);
  cmsghdr* const extra = CMSG_FIRSTHDR(&message.header);
  extra->cmsg_level = SOL_SOCKET;
  extra->cmsg_type = SCM_RIGHTS;
  extra->cmsg_len = CMSG_LEN(sizeof(descriptor));
  std::memcpy(CMSG_DATA(extra), &descriptor, sizeof(descriptor));
  // If nobody takes it, the next process creates its own.
  sendmsg(keeper_, &message.header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

const TestFile& KeptFiles::obtain(const std::string& key, const FilePlace& place, std::int64_t bytes,
                                  const std::function<std::unique_ptr<TestFile>()>& make) {
  auto& file = files_[key];
  if (file) return *file;
  if (const auto found = waiting_.find(key); found != waiting_.end() && is_whole(found->second.number(), bytes)) {
    file = std::make_unique<TestFile>(place, bytes, std::move(found->second));
    waiting_.erase(found);
    return *file;
  }
  file = make();
  send(key, file->descriptor());
  return *file;
}

}  // namespace nameplate
