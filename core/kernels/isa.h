// The instruction sets that kernels are compiled for, one by one, whatever the rest of the program is compiled for.
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

// The ones this program was compiled with, the narrowest first.
const std::vector<Isa>& compiled_isas();

// The widest that this CPU has and that `has_kernels` accepts; scalar where there is none.
Isa widest_isa(const std::function<bool(Isa)>& has_kernels);

// The widest for loops over vectors, which AMX's tiles are not made for.
Isa widest_vector_isa();

// All that this CPU has of those, the narrowest first; scalar only where there is none.
std::vector<Isa> vector_isas();

// Why this CPU or its operating system cannot run it; nothing if it can.
std::optional<std::string> why_not(Isa isa);

}  // namespace nameplate
