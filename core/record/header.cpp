#include "record/header.h"

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

}  // namespace nameplate
