#include "machine/pmem.h"

#include <array>

#include "probe/error.h"

#ifdef NAMEPLATE_HAS_PMEM

#include <fmt/format.h>
#include <libpmem.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "machine/page_size.h"
#include "machine/shared_library.h"

#endif

namespace nameplate {

std::string to_string(Durability durability) {
  constexpr std::array<const char*, 3> kNames = {"persistent", "forced", "none"};
  return kNames.at(static_cast<std::size_t>(durability));
}

#ifdef NAMEPLATE_HAS_PMEM

namespace {

struct Libpmem {
  SharedLibrary library{"libpmem.so.1", "libpmem1"};
  decltype(&pmem_map_file) map_file = library.function<decltype(pmem_map_file)>("pmem_map_file");
  decltype(&pmem_unmap) unmap = library.function<decltype(pmem_unmap)>("pmem_unmap");
  decltype(&pmem_persist) persist = library.function<decltype(pmem_persist)>("pmem_persist");
  decltype(&pmem_msync) msync = library.function<decltype(pmem_msync)>("pmem_msync");
  decltype(&pmem_errormsg) error_message = library.function<decltype(pmem_errormsg)>("pmem_errormsg");

  static const Libpmem& get() {
    static const Libpmem kInstance;
    return kInstance;
  }
};

struct Mapping {
  Buffer buffer;
  bool is_pmem = false;
};

[[noreturn]] void throw_map_error(const std::string& directory, std::size_t size_bytes) {
  if (errno == ENOSPC) refuse_for_now(fmt::format("{} is full: {} bytes do not fit", directory, size_bytes));
  fail(fmt::format("libpmem cannot map {} bytes in {}: {}", size_bytes, directory, Libpmem::get().error_message()));
}

Mapping map_file(const std::string& directory, std::size_t size_bytes) {
  const Libpmem& libpmem = Libpmem::get();
  std::size_t mapped = 0;
  int is_pmem = 0;
  void* const memory = libpmem.map_file(directory.c_str(), size_bytes, PMEM_FILE_CREATE | PMEM_FILE_TMPFILE,
                                        S_IRUSR | S_IWUSR, &mapped, &is_pmem);
  if (memory == nullptr) throw_map_error(directory, size_bytes);
  const auto unmap = [mapped](std::byte* mine) { Libpmem::get().unmap(mine, mapped); };
  return {.buffer = Buffer(static_cast<std::byte*>(memory), size_bytes, unmap), .is_pmem = is_pmem != 0};
}

bool is_forced() {
  const char* const value = std::getenv("PMEM_IS_PMEM_FORCE");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value != nullptr && std::string_view(value) == "1";
}

int flush(const void* data, std::size_t bytes) {
  Libpmem::get().persist(data, bytes);
  return 0;
}

int synchronise(const void* data, std::size_t bytes) { return Libpmem::get().msync(data, bytes) == 0 ? 0 : errno; }

}  // namespace

Buffer map_pmem(const std::string& directory, std::size_t size_bytes) { return map_file(directory, size_bytes).buffer; }

Durability durability_in(const std::string& directory) {
  if (!map_file(directory, page_bytes()).is_pmem) return Durability::none;
  return is_forced() ? Durability::forced : Durability::persistent;
}

PersistFunction persist_function(Durability durability) { return durability == Durability::none ? synchronise : flush; }

#else

namespace {

[[noreturn]] void refuse_without_library() {
  refuse("memory=pmem: libpmem is not built in; apt install libpmem-dev, then run script/bootstrap");
}

}  // namespace

Buffer map_pmem(const std::string&, std::size_t) { refuse_without_library(); }

Durability durability_in(const std::string&) { refuse_without_library(); }

PersistFunction persist_function(Durability) { refuse_without_library(); }

#endif

}  // namespace nameplate
