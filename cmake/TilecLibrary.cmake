# Wrappers for the kinds of target in this tree.

# tilec_library(NAME src... [MLIR] [LLVM] [LINK lib...]): a static library.
# MLIR: links libMLIR and reuses the precompiled MLIR headers. LLVM: links libLLVM only (Support, ADT).
function(tilec_library name)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  tilec_target(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# tilec_executable(NAME src... [MLIR] [LLVM] [LINK lib...])
function(tilec_executable name)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  tilec_target(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

macro(tilec_target name)
  if(ARG_MLIR)
    target_link_libraries(${name} PUBLIC MLIR LLVM)
    target_precompile_headers(${name} REUSE_FROM tilec_mlir_pch)
  elseif(ARG_LLVM)
    target_link_libraries(${name} PUBLIC LLVM)
  endif()
endmacro()

# tilec_pages(NAME): the manual page of a program and the completion of shells, which it prints, where they are looked for below a
# prefix.
function(tilec_pages name)
  set(share ${CMAKE_BINARY_DIR}/share)
  set(pages)
  foreach(page
      man/man1/${name}.1:--help=man
      bash-completion/completions/${name}:--completion=bash
      zsh/site-functions/_${name}:--completion=zsh
      fish/vendor_completions.d/${name}.fish:--completion=fish)
    string(REPLACE ":" ";" page ${page})
    list(GET page 0 file)
    list(GET page 1 option)
    get_filename_component(folder ${share}/${file} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${share}/${file}
      COMMAND ${name} ${option} > ${share}/${file}
      DEPENDS ${name}
      VERBATIM)
    list(APPEND pages ${share}/${file})
  endforeach()
  add_custom_target(${name}-pages ALL DEPENDS ${pages})
endfunction()

# tilec_tablegen(target td_file GEN output flags...): runs mlir-tblgen several times on one file.
# Usage: tilec_tablegen(TileOpsIncGen TileOps.td "TileOps.h.inc:-gen-op-decls" ...)
function(tilec_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  foreach(item ${ARGN})
    string(REPLACE ":" ";" parts ${item})
    list(GET parts 0 out)
    list(SUBLIST parts 1 -1 flags)
    mlir_tablegen(${out} ${flags} -I${CMAKE_SOURCE_DIR})
  endforeach()
  add_public_tablegen_target(${target})
endfunction()

# The headers that nearly every MLIR file includes, parsed once.
# Written only when it changes: what includes it would be compiled again after each configuration.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tilec_mlir_pch.cpp
  CONTENT "namespace tilec { extern const int pchAnchor; const int pchAnchor = 0; }\n")
add_library(tilec_mlir_pch STATIC ${CMAKE_BINARY_DIR}/tilec_mlir_pch.cpp)
target_precompile_headers(tilec_mlir_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/MlirPch.h)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
endif()
