// A library that a machine may lack: loaded on demand.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace nameplate {

class SharedLibrary {
 public:
  // Throws ProbeError(skipped), naming the Debian package, if it is not installed.
  SharedLibrary(const std::string& name, const std::string& package);
  // Loads the first of these that is installed. Throws like the constructor.
  static SharedLibrary first_of(const std::vector<std::string>& names, const std::string& package);
  // Loads the library that the user gave by path or name. Throws ProbeError(failed) with the loader's message.
  static SharedLibrary of_user(const std::string& name);

  const std::string& name() const { return name_; }

  // Returns the function of this name. Throws ProbeError(failed) if the library has none.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));  // NOLINT: what dlsym(3) gives
  }

  // Returns the same, or null.
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
