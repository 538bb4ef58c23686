// Keeps the compiler from removing or moving work whose result is not read (like google/benchmark's DoNotOptimize).
#pragma once

namespace nameplate {

template <class T>
inline void keep_alive(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace nameplate
