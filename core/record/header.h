// The part of the header record that the build decides.
#pragma once

#include <string>
#include <vector>

namespace nameplate {

// Returns the version from CMakeLists.txt.
std::string version();

// Returns compiler and build type.
std::string build_info();

// Returns the optional libraries that were available at build time.
std::vector<std::string> build_features();

}  // namespace nameplate
