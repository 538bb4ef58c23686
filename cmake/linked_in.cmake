# Finds the libraries to link with: archives where they exist, unless shared libraries are asked for.

function(find_linked_in result name)
  if(NOT NAMEPLATE_SHARED_LIBRARIES)
    set(archive lib${name}.a)
  endif()
  find_library(${result} NAMES ${archive} ${name} REQUIRED)
endfunction()
find_linked_in(SODIUM sodium)
find_linked_in(AIO aio)
find_linked_in(URING uring)

# find_package(OpenMP) looks for no archive, but takes one that is found already.
if(NOT NAMEPLATE_SHARED_LIBRARIES)
  find_library(GOMP_ARCHIVE libgomp.a PATHS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES} NO_DEFAULT_PATH)
endif()
if(GOMP_ARCHIVE)
  set(OpenMP_gomp_LIBRARY ${GOMP_ARCHIVE})
endif()
find_package(OpenMP)

# hwloc's archive may want other libraries, Debian's libudev, of which there is only the versioned name without its -dev package.
find_path(HWLOC_INCLUDE_DIR hwloc.h REQUIRED)
if(NOT NAMEPLATE_SHARED_LIBRARIES)
  find_library(HWLOC_ARCHIVE libhwloc.a)
endif()
find_library(UDEV NAMES udev libudev.so.1)
if(HWLOC_ARCHIVE)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${HWLOC_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${HWLOC_ARCHIVE} $<$<BOOL:${UDEV}>:${UDEV}>)
  check_cxx_source_compiles("#include <hwloc.h>
                             int main() { hwloc_topology_t made; return hwloc_topology_init(&made); }" HWLOC_ARCHIVE_LINKS)
endif()
if(HWLOC_ARCHIVE_LINKS)
  set(HWLOC ${CMAKE_REQUIRED_LIBRARIES})
else()
  find_library(HWLOC hwloc REQUIRED)
endif()
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)

add_library(linked_in INTERFACE)
# These two have no macro for their version.
pkg_check_modules(LIBURING QUIET liburing)
pkg_check_modules(LIBAIO QUIET libaio)
target_compile_definitions(linked_in INTERFACE
                           $<$<BOOL:${LIBURING_FOUND}>:NAMEPLATE_LIBURING_VERSION="${LIBURING_VERSION}">
                           $<$<BOOL:${LIBAIO_FOUND}>:NAMEPLATE_LIBAIO_VERSION="${LIBAIO_VERSION}">)
target_include_directories(linked_in SYSTEM INTERFACE ${HWLOC_INCLUDE_DIR})
target_link_libraries(linked_in INTERFACE ${SODIUM} ${AIO} ${URING} ${HWLOC} formatting)
if(OpenMP_CXX_FOUND)
  target_link_libraries(linked_in INTERFACE OpenMP::OpenMP_CXX)
endif()
# An MPI's library has its own hwloc, which must not become ours. By name, since a sanitizer's archive must stay visible: its free()
# would otherwise not be the one that the C++ library calls.
if(NOT LINKER_HIDES_NO_ARCHIVES)
  target_link_options(linked_in INTERFACE
                      -Wl,--exclude-libs,libsodium.a:libaio.a:liburing.a:libhwloc.a:libgomp.a:libstdc++.a:libgcc.a:libgcc_eh.a)
endif()

# Installed programs also have the C++ library and the compiler's own library linked in.
add_library(linked_in_runtime INTERFACE)
if(NOT NAMEPLATE_SHARED_LIBRARIES)
  target_link_options(linked_in_runtime INTERFACE -static-libstdc++ -static-libgcc)
endif()
