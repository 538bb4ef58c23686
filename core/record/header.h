// What this program is: the part of the header record that the build decides.
#pragma once

#include <string>
#include <vector>

namespace nameplate {

// As CMakeLists.txt says it.
std::string version();

// Compiler and build type.
std::string build_info();

// The optional libraries that were there when it was built.
std::vector<std::string> build_features();

}  // namespace nameplate
