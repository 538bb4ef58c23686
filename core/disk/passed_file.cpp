#include "disk/passed_file.h"

#include <sys/socket.h>

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

}  // namespace

void pass_file(int socket, const std::string& key, int descriptor) {
  if (key.size() > kLongestKey) return;
  std::string text = key;
  Message message(text);
  cmsghdr* const extra = CMSG_FIRSTHDR(&message.header);
  extra->cmsg_level = SOL_SOCKET;
  extra->cmsg_type = SCM_RIGHTS;
  extra->cmsg_len = CMSG_LEN(sizeof(descriptor));
  std::memcpy(CMSG_DATA(extra), &descriptor, sizeof(descriptor));
  sendmsg(socket, &message.header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

std::optional<PassedFile> receive_file(int socket) {
  std::array<char, kLongestKey> text{};
  Message message(text);
  const ssize_t bytes = recvmsg(socket, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (bytes <= 0) return std::nullopt;
  PassedFile passed{.key = std::string(text.data(), static_cast<std::size_t>(bytes)), .file = {}};
  const cmsghdr* const extra = CMSG_FIRSTHDR(&message.header);
  if (extra == nullptr || extra->cmsg_type != SCM_RIGHTS) return passed;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(extra), sizeof(descriptor));
  passed.file = Descriptor(descriptor);
  return passed;
}

}  // namespace nameplate
