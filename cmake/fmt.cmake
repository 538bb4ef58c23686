# formatting: the library {fmt}. A program that has its libraries linked in needs it as an archive, which is compiled here
# once: with the headers alone, half of the time for each source file goes into it. A version of {fmt} that has other
# parts than cmake/fmt_archive.cpp is used by its headers alone.

set(fmt_archive ${CMAKE_CURRENT_SOURCE_DIR}/cmake/fmt_archive.cpp)
if(NOT NAMEPLATE_SHARED_LIBRARIES)
  include(CheckCXXSourceCompiles)
  get_target_property(fmt_include fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  set(CMAKE_REQUIRED_INCLUDES ${fmt_include})
  set(CMAKE_REQUIRED_FLAGS -std=c++20)
  check_cxx_source_compiles("#include \"${fmt_archive}\"
    #include <fmt/chrono.h>
    int main(int argc, char** argv) {
      const std::chrono::system_clock::time_point moment;
      return static_cast<int>(fmt::format(\"{:.3g} {:>9} {} {} {}\", 0.1 * argc, argv[0], 1.5F, argc, moment).size());
    }" FMT_ARCHIVE_LINKS)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_FLAGS)
endif()
if(NAMEPLATE_SHARED_LIBRARIES)
  add_library(formatting ALIAS fmt::fmt)
elseif(FMT_ARCHIVE_LINKS)
  add_library(formatting STATIC ${fmt_archive})
  target_include_directories(formatting SYSTEM PUBLIC ${fmt_include})
else()
  add_library(formatting ALIAS fmt::fmt-header-only)
endif()
