// Where a key comes from: a file that nobody else can read, or the environment.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "net/secret.h"

namespace nameplate {

// Where a key is looked for when no file is named; never on a command line, which every user of a machine can read.
inline constexpr const char* kKeyVariable = "NAMEPLATE_KEY";

// Reads the key from the file if one is named, else takes it from the environment, else returns none. Throws
// ProbeError(failed): a file that cannot be read, that others can read too, or that holds no key.
Key find_key(const std::string& file);

// Overwrites the variable's value and removes the variable, so that neither a program started later nor /proc shows it.
// Returns the value, or nothing.
SecretText take_key_variable();

// Makes a file that only its owner can read, with a new key. Throws ProbeError(failed), also where it exists already.
void write_new_key(const std::string& file);

// The user and groups of a process.
struct Identity {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> supplementary = {};

  static Identity of_this_process();
};

// Whether a file of this owner, group and mode is readable by root and `reader` alone. Its group may read it, and never
// write it, where it is a credential of the service manager, or where owner and group are root's or the reader's.
bool is_private(const struct stat& status, bool is_credential, const Identity& reader);

}  // namespace nameplate
