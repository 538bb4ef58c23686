# Generates the plan and the screen of `nameplate-core quick` from the declarations of the Python package.

set(NAMEPLATE_CORE_PLAN "" CACHE FILEPATH "Source file that cmake/core_plan.py made; without it, Python with msgspec makes one")
if(NOT NAMEPLATE_CORE_PLAN)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(NAMEPLATE_CORE_PLAN "${CMAKE_CURRENT_BINARY_DIR}/core_plan.cpp")
  set(python_package "${CMAKE_CURRENT_SOURCE_DIR}/src/nameplate")
  file(GLOB_RECURSE declarations CONFIGURE_DEPENDS "${python_package}/probes/*.py" "${python_package}/planning/*.py"
       "${python_package}/records/*.py" "${python_package}/statistics/*.py")
  file(GLOB shared CONFIGURE_DEPENDS "${python_package}/*.py")
  add_custom_command(
    OUTPUT "${NAMEPLATE_CORE_PLAN}"
    COMMAND "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/cmake/core_plan.py" "${NAMEPLATE_CORE_PLAN}"
    DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cmake/core_plan.py" "${python_package}/planning/plans/quick.toml" ${declarations} ${shared}
    COMMENT "Writing the plan of nameplate-core quick"
    VERBATIM)
endif()
