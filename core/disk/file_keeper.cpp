#include "disk/file_keeper.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "disk/passed_file.h"
#include "probe/error.h"

namespace nameplate {

Descriptor FileKeeper::lend() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail(std::string("cannot create a pair of sockets: ") + std::strerror(errno));
  }
  local_end_ = Descriptor(ends[0]);
  for (const auto& [key, file] : files_) pass_file(local_end_.number(), key, file.number());
  return Descriptor(ends[1]);
}

void FileKeeper::take_back() {
  while (auto passed = receive_file(local_end_.number())) {
    if (passed->file.is_open()) files_.insert_or_assign(passed->key, std::move(passed->file));
  }
}

}  // namespace nameplate
