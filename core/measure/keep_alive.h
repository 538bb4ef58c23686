// Keeps the compiler from removing or moving work whose result nobody reads (google/benchmark's DoNotOptimize).
#pragma once

namespace nameplate {

template <class T>
inline void keep_alive(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

// All memory may have been read and written here, as far as the compiler knows.
inline void clobber_memory() { asm volatile("" : : : "memory"); }

}  // namespace nameplate
