// The part of the header record that the build decides.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace nameplate {

// Returns the version from CMakeLists.txt.
std::string version();

// Returns compiler and build type.
std::string build_info();

// Returns the optional libraries that were available at build time.
std::vector<std::string> build_features();

// Returns the versions of the libraries that the program was built with, by name, and that of the running C library. A
// version that a library does not report is left out.
std::map<std::string, std::string> library_versions();

}  // namespace nameplate
