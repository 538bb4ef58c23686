// A library that a machine may lack: loaded when it is wanted.
#pragma once

#include <memory>
#include <string>

namespace nameplate {

class SharedLibrary {
 public:
  // Throws ProbeError(skipped) with the Debian package where it is not installed.
  SharedLibrary(std::string name, const std::string& package);

  // The function of this name. Throws ProbeError(failed) where the library has none.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));  // NOLINT: what dlsym(3) gives
  }

 private:
  void* symbol(const char* name) const;

  std::string name_;
  std::unique_ptr<void, int (*)(void*)> handle_;
};

}  // namespace nameplate
