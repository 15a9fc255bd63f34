# tilec_add_kernels(TARGET
#   SOURCES FILE.tile...              each becomes an object of TARGET and a header FILE.h, or PREFIXFILE.h, for it and what links it
#   [ARCHS sm_90a sm_80...]           architectures that all of them are compiled for
#   [PARAMETERS NAME=VALUE... | auto] compile-time parameters and dimensions (-P)
#   [INSTANTIATE TEXT...]             'K<D = 64> as name'
#   [KERNEL NAME]                     only this one
#   [PREFIX TEXT]                     in front of all names in the headers, and of theirs
#   [IMPORT_DIRECTORIES DIR...]       where imports are searched, besides the folder of the kernels that come with tilec
#   [OPTIONS OPTION...]               other options of tilec
#   [RUNTIME shared | static | none]) what of the runtime TARGET is linked with; shared
#
# Called in the directory that makes TARGET. Arguments may be generator expressions, but for SOURCES, KERNEL, PREFIX and RUNTIME. What an import or an
# option changes is compiled again. The objects are for the machine that TARGET is for, CMAKE_SYSTEM_PROCESSOR.
cmake_policy(PUSH)
cmake_policy(VERSION 3.20...3.31)

# Which host an object is for.
function(tilec_host_triple result)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    message(FATAL_ERROR "tilec_add_kernels: objects are made for Linux, not for ${CMAKE_SYSTEM_NAME}")
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(${result} x86_64-linux-gnu PARENT_SCOPE)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(${result} aarch64-linux-gnu PARENT_SCOPE)
  else()
    message(FATAL_ERROR "tilec_add_kernels: objects are made for x86-64 and AArch64, not for `${CMAKE_SYSTEM_PROCESSOR}`")
  endif()
endfunction()

# tilec_run(OUTPUT KIND SOURCE OPTIONS): one file from one source, again when what it imports changes.
function(tilec_run output kind source options)
  add_custom_command(OUTPUT ${output}
    COMMAND tilec::tilec ${source} --emit=${kind} -o ${output} -MD -MF ${output}.d ${options}
    DEPENDS ${source} ${output}.options $<TARGET_FILE:tilec::tilec>
    DEPFILE ${output}.d
    COMMENT "tilec: ${output}"
    COMMAND_EXPAND_LISTS VERBATIM)
  # Make knows nothing of a command that has changed.
  file(GENERATE OUTPUT ${output}.options CONTENT "${options}\n")
endfunction()

function(tilec_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "KERNEL;PREFIX;RUNTIME"
    "SOURCES;ARCHS;PARAMETERS;INSTANTIATE;IMPORT_DIRECTORIES;OPTIONS")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "tilec_add_kernels: `${target}` is no target")
  endif()
  get_target_property(made_in ${target} SOURCE_DIR)
  if(NOT made_in STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "tilec_add_kernels: `${target}` is made in ${made_in}: call it there")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilec_add_kernels: `${ARG_UNPARSED_ARGUMENTS}`: say what that is, SOURCES or another word")
  endif()
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "tilec_add_kernels: no SOURCES")
  endif()

  tilec_host_triple(triple)
  string(REPLACE ";" "$<SEMICOLON>" archs "${ARG_ARCHS}") # one element until it is evaluated
  set(archs "$<FILTER:${archs},EXCLUDE,^$>")
  set(options "$<$<BOOL:${archs}>:--arch=$<JOIN:${archs},$<COMMA>>>")
  foreach(parameter IN LISTS ARG_PARAMETERS)
    list(APPEND options "$<$<BOOL:${parameter}>:-P$<SEMICOLON>${parameter}>")
  endforeach()
  foreach(text IN LISTS ARG_INSTANTIATE)
    list(APPEND options --instantiate "${text}")
  endforeach()
  if(ARG_KERNEL)
    list(APPEND options --kernel ${ARG_KERNEL})
  endif()
  foreach(folder IN LISTS ARG_IMPORT_DIRECTORIES)
    if(NOT IS_ABSOLUTE "${folder}" AND NOT folder MATCHES "^\\$<")
      set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
    endif()
    list(APPEND options "$<$<BOOL:${folder}>:-I$<SEMICOLON>${folder}>")
  endforeach()
  list(APPEND options -I ${tilec_KERNELS_DIR} ${ARG_OPTIONS})
  if(ARG_PREFIX)
    list(APPEND options --prefix=${ARG_PREFIX})
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
  get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(several)
    string(APPEND folder /$<CONFIG>)
  else()
    file(MAKE_DIRECTORY ${folder})
  endif()
  foreach(source IN LISTS ARG_SOURCES)
    if(source MATCHES "\\$<")
      message(FATAL_ERROR "tilec_add_kernels: `${source}`: sources cannot be generator expressions, since files are named after them")
    endif()
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME_WE)
    set(name ${ARG_PREFIX}${name})
    tilec_run(${folder}/${name}.o obj ${source} "${options};--host=${triple}")
    tilec_run(${folder}/${name}.h header ${source} "${options}")
    target_sources(${target} PRIVATE ${folder}/${name}.o ${folder}/${name}.h)
  endforeach()
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)

  # As target_link_libraries(PUBLIC) does, whether the project says PUBLIC and PRIVATE or not.
  if(NOT ARG_RUNTIME OR ARG_RUNTIME STREQUAL "shared")
    set(library tilec::tile_rt)
  elseif(ARG_RUNTIME STREQUAL "static")
    set(library tilec::tile_rt_static)
  elseif(ARG_RUNTIME STREQUAL "none")
    return()
  else()
    message(FATAL_ERROR "tilec_add_kernels: RUNTIME is `${ARG_RUNTIME}`, neither shared nor static nor none")
  endif()
  if(NOT TARGET ${library})
    message(FATAL_ERROR "tilec_add_kernels: the runtime is not installed, or not for this machine: set tile_rt_DIR to the folder "
      "of its tile_rt-config.cmake, or say RUNTIME none")
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES ${library})
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${library})
endfunction()

cmake_policy(POP)
