# Debian packages of what is installed, one for each component: `cpack -G DEB` in the build folder; an archive of all: `cpack -G TGZ`.
# A project around this one adds its components to CPACK_COMPONENTS_ALL before.
list(APPEND CPACK_COMPONENTS_ALL runtime dev)
if(NOT CPACK_PACKAGE_NAME)
  set(CPACK_PACKAGE_NAME tile-rt)
endif()
set(CPACK_PACKAGE_VERSION ${TILE_RT_VERSION})
set(CPACK_PACKAGE_VENDOR tilec)
set(CPACK_PACKAGE_CONTACT "tilec maintainers <maintainers@tilec.invalid>" CACHE STRING "who made the packages, with an address")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Dependencies are read from the programs, where Debian's tool for that is.
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(DPKG_SHLIBDEPS)
if(DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()

# Debian's name of a library has the number of its ABI.
get_target_property(abi tile_rt SOVERSION)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libtile-rt${abi})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Loads and launches kernels compiled by tilec
libtile_rt checks the arguments of a call, chooses among the variants of its kernel, and launches
through the CUDA driver, which it opens when it is used.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtile-rt-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libtile-rt${abi} (= ${TILE_RT_VERSION})")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers and archive of libtile_rt
What programs need to be built that launch kernels compiled by tilec: headers in C and C++, the
library as an archive, and its description for CMake and pkg-config.")

# Debian wants the license in each package.
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(license ${CMAKE_CURRENT_LIST_DIR}/../../LICENSE)
  if(EXISTS ${license})
    install(FILES ${license} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
      RENAME copyright COMPONENT ${component})
  endif()
endforeach()
include(CPack)
