# Flags of our own code: warnings are errors; output does not depend on the build folder.
add_compile_options(
  -Wall -Wextra -Wno-unused-parameter -Werror
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -fvisibility-inlines-hidden)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=lld)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Assertions stay on in our code: LLVM as packaged has its own off.
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()
