// The instruction sets that kernels are compiled for, independently of the rest of the program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nameplate {

enum class Isa { scalar, sse2, avx2, avx512, amx, neon, sve };

std::string to_string(Isa isa);
std::optional<Isa> parse_isa(std::string_view name);

// Returns the ones in this program, narrowest first.
const std::vector<Isa>& compiled_isas();

// Returns the widest that this CPU has and `has_kernels` accepts; scalar if there is none.
Isa widest_isa(const std::function<bool(Isa)>& has_kernels);

// Returns the widest for loops over vectors, for which AMX's tiles are not made.
Isa widest_vector_isa();

// Returns all that this CPU has of those, narrowest first; only scalar if there is none.
std::vector<Isa> vector_isas();

// Returns why this CPU or its operating system cannot run it; nothing if it can.
std::optional<std::string> why_not(Isa isa);

}  // namespace nameplate
