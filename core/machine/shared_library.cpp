#include "machine/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "probe/error.h"

namespace nameplate {

SharedLibrary::SharedLibrary(std::string name, const std::string& package)
    : name_(std::move(name)), handle_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL), dlclose) {
  if (handle_ == nullptr) refuse(fmt::format("{} is not on this machine: apt install {}", name_, package));
}

void* SharedLibrary::symbol(const char* name) const {
  void* const found = dlsym(handle_.get(), name);
  if (found == nullptr) fail(fmt::format("{} has no {}", name_, name));
  return found;
}

}  // namespace nameplate
