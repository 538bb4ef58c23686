#include "machine/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "probe/error.h"

namespace nameplate {

SharedLibrary::SharedLibrary(std::string name)
    : name_(std::move(name)), handle_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL), dlclose) {}

SharedLibrary::SharedLibrary(const std::string& name, const std::string& package) : SharedLibrary(name) {
  if (!is_there()) refuse(fmt::format("{} is not on this machine; apt install {}", name, package));
}

SharedLibrary SharedLibrary::first_of(const std::vector<std::string>& names, const std::string& package) {
  for (const std::string& name : names) {
    SharedLibrary library(name);
    if (library.is_there()) return library;
  }
  return {names.front(), package};
}

SharedLibrary SharedLibrary::of_user(const std::string& name) {
  SharedLibrary library(name);
  if (!library.is_there()) fail(fmt::format("cannot load {}", dlerror()));  // NOLINT(concurrency-mt-unsafe)
  return library;
}

void* SharedLibrary::symbol(const char* name) const {
  void* const address = symbol_if_there(name);
  if (address == nullptr) fail(fmt::format("{} has no function {}", name_, name));
  return address;
}

void* SharedLibrary::symbol_if_there(const char* name) const { return dlsym(handle_.get(), name); }

}  // namespace nameplate
