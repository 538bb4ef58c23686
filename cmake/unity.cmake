# The source files of a directory are compiled as one, which takes a third of the time of one by one: the headers of
# JSON alone take half a second for each file. So names in anonymous namespaces are unique within a directory; a probe has
# a namespace of its own. clang-tidy reads files one by one, which also shows a missing #include.
option(NAMEPLATE_UNITY_BUILD "Compile the source files of a directory as one" ON)

# Groups the source files of a target by their directories.
function(compile_by_directory target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(directory ${source} DIRECTORY)
    get_filename_component(name ${directory} NAME)
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${name})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${NAMEPLATE_UNITY_BUILD} UNITY_BUILD_MODE GROUP)
endfunction()
