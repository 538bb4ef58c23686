// Reads the key from a file that nobody else can read, or from the environment.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "net/secret.h"

namespace nameplate {

// The environment variable with the key if no file is named. A key is never on a command line, which every user of a
// machine can read.
inline constexpr const char* kKeyVariable = "NAMEPLATE_KEY";

// Reads the key from the file if one is named, else from the environment; returns no key if there is none. Throws
// ProbeError(failed) if a file cannot be read, is readable by others, or contains no key.
Key find_key(const std::string& file);

// Overwrites the variable's value and removes the variable, so that neither a program started later nor /proc shows it.
// Returns the value, or nothing.
SecretText take_key_variable();

// Returns the variable as an entry of an environment, such as `NAMEPLATE_KEY=…`.
SecretText key_variable(const SecretText& key);

// Returns the environment of a program that is started: `entry` and this process's other variables.
std::vector<char*> environment_with(SecretText& entry);

// Creates a file with a new key that only its owner can read. Throws ProbeError(failed), also if the file exists.
void write_new_key(const std::string& file);

// The user and groups of a process.
struct Identity {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> supplementary = {};

  static Identity of_this_process();
};

// Returns whether only root and `reader` can read a file with this owner, group and mode. The group may read it, and
// never write it, if it is a credential of the service manager, or if owner and group are root's or the reader's.
bool is_private(const struct stat& status, bool is_credential, const Identity& reader);

}  // namespace nameplate
