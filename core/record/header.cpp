#include "record/header.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <hwloc.h>
#include <hwy/highway.h>
#include <sodium.h>
#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>

namespace nameplate {

std::string version() { return NAMEPLATE_VERSION; }

std::string build_info() { return std::string(__VERSION__) + ", " + NAMEPLATE_BUILD_TYPE; }

std::vector<std::string> build_features() {
  std::vector<std::string> features;
#ifdef _OPENMP
  features.emplace_back("openmp");
#endif
#ifdef NAMEPLATE_HAS_PMEM
  features.emplace_back("pmem");
#endif
#ifdef NAMEPLATE_HAS_MEMKIND
  features.emplace_back("memkind");
#endif
  return features;
}

std::map<std::string, std::string> library_versions() {
  constexpr int kThousand = 1000;
  constexpr int kHundred = 100;
  std::map<std::string, std::string> versions = {
      {"CLI11", CLI11_VERSION},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / kThousand / 10, FMT_VERSION / kHundred % kHundred,
                          FMT_VERSION % kHundred)},
      {"glibc", gnu_get_libc_version()},
      {"highway", fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
      {"hwloc", HWLOC_VERSION},
      {"libsodium", sodium_version_string()},
      {"nlohmann_json",
       fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)}};
#ifdef NAMEPLATE_LIBURING_VERSION
  versions["liburing"] = NAMEPLATE_LIBURING_VERSION;
#endif
#ifdef NAMEPLATE_LIBAIO_VERSION
  versions["libaio"] = NAMEPLATE_LIBAIO_VERSION;
#endif
  return versions;
}

}  // namespace nameplate
