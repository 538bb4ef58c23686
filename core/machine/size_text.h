// A number of bytes for people.
#pragma once

#include <cstdint>
#include <string>

namespace nameplate {

// Returns a size with four digits in the largest binary unit that is not above it: "16 MiB", "286.1 MiB", "512 B".
std::string size_text(std::int64_t bytes);

}  // namespace nameplate
