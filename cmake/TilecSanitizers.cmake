# TILEC_SANITIZE, which the presets asan and tsan set: all of our own code is instrumented, and what is found ends the
# program. tools/dev/test runs them.
set(TILEC_SANITIZE "" CACHE STRING "nothing, `address` (and undefined behaviour) or `thread`")
set_property(CACHE TILEC_SANITIZE PROPERTY STRINGS "" address thread)

# tilec_long_running(TARGET): its tests run long, so builds with sanitizers optimise it, too. No user of shared precompiled
# headers, which are compiled as the rest.
function(tilec_long_running name)
  if(TILEC_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)
  endif()
endfunction()

# tilec_apart(FILE...): of the folder's targets, files that are no part of a unity build: a name in them is another file's, too, or
# they use another namespace (mlir where others of the target use llvm).
function(tilec_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

if(NOT TILEC_SANITIZE)
  return()
endif()
# -O0 is compiled in half the time of -O1, and in most tests most of what runs is LLVM's. Reports need no more than lines.
set(flags -O0 -gline-tables-only -fno-omit-frame-pointer)
if(TILEC_SANITIZE STREQUAL "address")
  # LLVM as packaged has no RTTI, in which -fsanitize=vptr would look for its classes.
  list(APPEND flags -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all)
elseif(TILEC_SANITIZE STREQUAL "thread")
  list(APPEND flags -fsanitize=thread)
else()
  message(FATAL_ERROR "TILEC_SANITIZE is `${TILEC_SANITIZE}`, neither `address` nor `thread`")
endif()
add_compile_options(${flags})
add_link_options(${flags})
