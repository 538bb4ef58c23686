#include "machine/memkind.h"

#include "probe/error.h"

#ifdef NAMEPLATE_HAS_MEMKIND

#include <fmt/format.h>
#include <memkind.h>

#include <array>

#include "machine/page_size.h"
#include "machine/shared_library.h"

#endif

namespace nameplate {

#ifdef NAMEPLATE_HAS_MEMKIND

namespace {

struct Memkind {
  SharedLibrary library{"libmemkind.so.0", "libmemkind0"};
  decltype(&memkind_create_pmem) create = library.function<decltype(memkind_create_pmem)>("memkind_create_pmem");
  decltype(&memkind_destroy_kind) destroy = library.function<decltype(memkind_destroy_kind)>("memkind_destroy_kind");
  decltype(&memkind_posix_memalign) allocate =
      library.function<decltype(memkind_posix_memalign)>("memkind_posix_memalign");
  decltype(&memkind_error_message) describe =
      library.function<decltype(memkind_error_message)>("memkind_error_message");

  static const Memkind& get() {
    static const Memkind kInstance;
    return kInstance;
  }
};

std::string memkind_message(int error) {
  std::array<char, MEMKIND_ERROR_MESSAGE_SIZE> message{};
  Memkind::get().describe(error, message.data(), message.size());
  return message.data();
}

}  // namespace

Buffer allocate_memkind(const std::string& directory, std::size_t size_bytes) {
  const Memkind& memkind = Memkind::get();
  memkind_t kind = nullptr;
  const int error = memkind.create(directory.c_str(), 0, &kind);  // 0: as large as the mount allows
  if (error != 0) fail(fmt::format("memkind cannot create a heap in {}: {}", directory, memkind_message(error)));
  void* memory = nullptr;
  if (memkind.allocate(kind, &memory, page_bytes(), size_bytes) != 0) {
    memkind.destroy(kind);
    refuse_for_now(fmt::format("{} is full: {} bytes do not fit", directory, size_bytes));
  }
  return {static_cast<std::byte*>(memory), size_bytes, [kind](std::byte*) { Memkind::get().destroy(kind); }};
}

#else

Buffer allocate_memkind(const std::string&, std::size_t) {
  refuse("memory=memkind: memkind is not built in; apt install libmemkind-dev, then run script/bootstrap");
}

#endif

}  // namespace nameplate
