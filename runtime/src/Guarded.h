// How the C functions end: exceptions become a status and the thread's text.
#pragma once

#include "Error.h"

#include <new>

namespace tile_rt {

/// What tile_last_error() says.
inline thread_local std::string lastError;

template <class Function>
tile_status guarded(Function &&function) {
  try {
    function();
    return TILE_OK;
  } catch (const Error &error) {
    lastError = error.what();
    return error.status;
  } catch (const std::bad_alloc &) {
    lastError = "out of memory";
    return TILE_ERROR_MEMORY;
  } catch (const std::exception &error) {
    // Only the JSON library throws others, on strings that are not UTF-8.
    lastError = std::string("malformed pack: ") + error.what();
    return TILE_ERROR_PACK;
  }
}

} // namespace tile_rt
