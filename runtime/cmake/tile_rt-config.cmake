# find_package(tile_rt): the targets tilec::tile_rt and tilec::tile_rt_static.
include(${CMAKE_CURRENT_LIST_DIR}/tile_rt-targets.cmake)
