// Passes open files from process to process over a socket (AF_UNIX, SOCK_SEQPACKET): one message per file, with its
// key.
#pragma once

#include <optional>
#include <string>

#include "machine/descriptor.h"

namespace nameplate {

struct PassedFile {
  std::string key;
  Descriptor file;  // not open if the message had none
};

// Does not wait: the file is not passed if the key is too long, the socket is full, or nobody reads from it.
void pass_file(int socket, const std::string& key, int descriptor);

// Returns the next file that was passed, nothing if there is none now.
std::optional<PassedFile> receive_file(int socket);

}  // namespace nameplate
