#include "Driver.h"

#include "DriverLibrary.h"

#include <dlfcn.h>

namespace tile_rt {

std::shared_ptr<const Driver> Driver::open() {
  const DriverLibrary chosen = driverLibrary();
  const std::string &path = chosen.path, &what = chosen.what;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    throw Error(TILE_ERROR_NO_DRIVER,
                "cannot open " + what + ": " + (reason ? reason : path) + chosen.hint);
  }
  auto driver = std::make_shared<Driver>();
  auto find = [&](auto &function, const char *symbol, bool needed) {
    void *address = dlsym(library, symbol);
    if (!address && needed) {
      throw Error(TILE_ERROR_NO_DRIVER, "the CUDA driver " + path + " has no " + symbol +
                                            "; CUDA 12.0 or newer is needed");
    }
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
#define TILE_RT_FIND(member, symbol, ...) find(driver->member, symbol, true);
  TILE_RT_DRIVER_FUNCTIONS(TILE_RT_FIND)
#undef TILE_RT_FIND
  find(driver->emulated, "tileEmulatedDriver", false);
  constexpr int kEmulatorInterface = 2;
  if (driver->emulated && driver->emulated() != kEmulatorInterface) {
    throw Error(TILE_ERROR_NO_DRIVER,
                "the emulator " + path + " is of another version than the runtime");
  }
  if (cu::Result result = driver->init(0)) {
    const char *name = nullptr;
    driver->getErrorName(result, &name);
    const char *text = nullptr;
    driver->getErrorString(result, &text);
    throw Error(TILE_ERROR_NO_DRIVER, what + " does not start: " + (name ? name : "error ") + " (" +
                                          std::to_string(result) + ")" +
                                          (text ? std::string(", ") + text : ""));
  }
  return driver;
}

void Driver::check(cu::Result result, const std::string &what) const {
  if (!result) {
    return;
  }
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  throw Error(TILE_ERROR_DRIVER, what + ": " + (name ? name : "error " + std::to_string(result)) +
                                     (text ? std::string(", ") + text : ""));
}

CurrentContext::CurrentContext(const Driver &driver, cu::Context context) : driver(driver) {
  cu::Context current = nullptr;
  if (cu::Result result = driver.ctxGetCurrent(&current)) {
    driver.check(result, "cuCtxGetCurrent");
  }
  if (current != context) {
    if (cu::Result result = driver.ctxPush(context)) {
      driver.check(result, "cuCtxPushCurrent");
    }
    pushed = true;
  }
}

CurrentContext::~CurrentContext() {
  cu::Context popped;
  if (pushed) {
    driver.ctxPop(&popped);
  }
}

} // namespace tile_rt
