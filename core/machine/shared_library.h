// A library that a machine may lack: loaded when it is wanted.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace nameplate {

class SharedLibrary {
 public:
  // Throws ProbeError(skipped) with the Debian package where it is not installed.
  SharedLibrary(const std::string& name, const std::string& package);
  // The first of these that is there. Throws as that does.
  static SharedLibrary first_of(const std::vector<std::string>& names, const std::string& package);
  // What the user named, a path or a name. Throws ProbeError(failed) in the loader's words.
  static SharedLibrary of_user(const std::string& name);

  const std::string& name() const { return name_; }

  // The function of this name. Throws ProbeError(failed) where the library has none.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));  // NOLINT: what dlsym(3) gives
  }

  // The same, or null.
  template <class Function>
  Function* function_if_there(const char* name) const {
    return reinterpret_cast<Function*>(symbol_if_there(name));  // NOLINT: what dlsym(3) gives
  }

 private:
  explicit SharedLibrary(std::string name);

  bool is_there() const { return handle_ != nullptr; }
  void* symbol(const char* name) const;
  void* symbol_if_there(const char* name) const;

  std::string name_;
  std::unique_ptr<void, int (*)(void*)> handle_;
};

}  // namespace nameplate
