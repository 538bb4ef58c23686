# Compiles for the architecture below the folder $NAMEPLATE_PORTABLE, which script/build-wheels makes: its compiler in bin,
# its libraries in prefix.
set(portable $ENV{NAMEPLATE_PORTABLE})
get_filename_component(CMAKE_SYSTEM_PROCESSOR ${portable} NAME)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${portable}/bin/cc)
set(CMAKE_CXX_COMPILER ${portable}/bin/c++)
foreach(tool AR RANLIB)
  string(TOLOWER ${tool} file)
  set(CMAKE_${tool} ${portable}/bin/${file} CACHE FILEPATH "")
  set(CMAKE_CXX_COMPILER_${tool} ${portable}/bin/${file} CACHE FILEPATH "")
endforeach()

set(CMAKE_FIND_ROOT_PATH ${portable}/prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()

# Without the names for a debugger, which are 70 MB. On x86-64 with the part of g++ that finds the features of the CPU.
set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
if(EXISTS ${portable}/prefix/lib/cpuinfo.o)
  string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " ${portable}/prefix/lib/cpuinfo.o")
endif()
# Only a program with an MPI needs that, and there is none in a wheel.
set(LINKER_HIDES_NO_ARCHIVES TRUE)
