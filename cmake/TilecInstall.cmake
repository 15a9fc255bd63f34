# Installs the compiler (component `compiler`) beside what runtime/ installs, and makes packages. The prefix can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET tilec)
  # LLVM's folder is where it was found; nothing else is looked for at a fixed place.
  set_target_properties(tilec PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIR})
  install(TARGETS tilec tile-run EXPORT tilec RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  # The manual page and the completion of shells (tools/tilec).
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT compiler)
endif()
# Sources of kernels, for imports and to compile: `import "gemm/gemm.tile"` finds them with -I share/tilec/kernels.
install(DIRECTORY kernels DESTINATION ${CMAKE_INSTALL_DATADIR}/tilec COMPONENT compiler PATTERN __pycache__ EXCLUDE)

set(packages ${CMAKE_INSTALL_LIBDIR}/cmake/tilec)
install(EXPORT tilec NAMESPACE tilec:: FILE tilec-targets.cmake DESTINATION ${packages} COMPONENT compiler)
configure_package_config_file(cmake/tilec-config.cmake.in ${CMAKE_BINARY_DIR}/tilec-config.cmake
  INSTALL_DESTINATION ${packages} PATH_VARS CMAKE_INSTALL_DATADIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tilec-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES cmake/TilecAddKernels.cmake ${CMAKE_BINARY_DIR}/tilec-config.cmake ${CMAKE_BINARY_DIR}/tilec-config-version.cmake
  DESTINATION ${packages} COMPONENT compiler)

set(CPACK_PACKAGE_NAME tilec)
list(APPEND CPACK_COMPONENTS_ALL compiler)
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME tilec)
set(CPACK_COMPONENT_COMPILER_DESCRIPTION "Ahead-of-time compiler of tile kernels for NVIDIA GPUs
It writes PTX, cubins and packs, which the runtime libtile_rt loads. ptxas, from NVIDIA's toolkit,
is needed to assemble them.")
set(CPACK_DEBIAN_COMPILER_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPILER_PACKAGE_SUGGESTS "libtile-rt-dev, nvidia-cuda-toolkit")
include(runtime/cmake/Packages.cmake)
