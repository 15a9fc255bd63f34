# How the runtime is compiled, within whatever project.
if(own_build)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
  endif()
  add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror)
endif()

# tile_rt_objects_of(NAME): objects that archives and shared libraries are made of.
function(tile_rt_objects_of name)
  set_target_properties(${name} PROPERTIES
    CXX_STANDARD 17
    CXX_STANDARD_REQUIRED ON
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${name} PRIVATE -ffunction-sections)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    target_compile_options(${name} PRIVATE -O2) # a project that names no kind of build would call slowly
  endif()
endfunction()

# tile_rt_use_json(NAME): it reads manifests with nlohmann's headers.
function(tile_rt_use_json name)
  if(NOT TARGET nlohmann_json::nlohmann_json)
    find_path(TILE_RT_JSON_DIR nlohmann/json.hpp DOC "folder of nlohmann/json.hpp")
    if(NOT TILE_RT_JSON_DIR)
      message(FATAL_ERROR "the runtime reads JSON with nlohmann/json.hpp, which is not found: install it (Debian's "
        "nlohmann-json3-dev), or set TILE_RT_JSON_DIR to its folder")
    endif()
    target_include_directories(${name} SYSTEM PRIVATE ${TILE_RT_JSON_DIR})
  else()
    target_link_libraries(${name} PRIVATE nlohmann_json::nlohmann_json)
  endif()
endfunction()
