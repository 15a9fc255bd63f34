# Installs the runtime. The component `runtime` is what programs need that run, `dev` what those need that are built.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tile_rt tile_rt_static EXPORT tile_rt
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET tile_emu)
  # For tests of programs, which need no GPU then.
  install(TARGETS tile_emu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
endif()
install(DIRECTORY include/tile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

set(packages ${CMAKE_INSTALL_LIBDIR}/cmake/tile_rt)
install(EXPORT tile_rt NAMESPACE tilec:: FILE tile_rt-targets.cmake DESTINATION ${packages} COMPONENT dev)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tile_rt-config-version.cmake
  VERSION ${TILE_RT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES cmake/tile_rt-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/tile_rt-config-version.cmake
  DESTINATION ${packages} COMPONENT dev)

# pkg-config: found from where the file lies, so that a prefix can be moved.
file(RELATIVE_PATH up /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
string(REGEX REPLACE "/$" "" up "${up}")
foreach(name tile_rt tile_rt_static)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()
