#include "DriverLibrary.h"

#include "Error.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace tile_rt {

namespace {
std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The emulator lies beside libtile_rt.so or, seen from a program that has the runtime inside, there or in lib/ beside its folder;
/// else the loader knows.
std::string emulatorLibrary() {
  const std::string name = "libtile_emu.so";
  Dl_info info{};
  if (dladdr(reinterpret_cast<void *>(&driverLibrary), &info) && info.dli_fname) {
    std::string here = info.dli_fname;
    if (here.find('/') == std::string::npos) { // a program that was found along PATH
      char self[4096];
      const ssize_t bytes = readlink("/proc/self/exe", self, sizeof self);
      here = bytes > 0 ? std::string(self, static_cast<size_t>(bytes)) : here;
    }
    const size_t slash = here.rfind('/');
    here = slash == std::string::npos ? "." : here.substr(0, slash);
    for (const char *folder : {"/", "/../lib/"}) {
      std::string path = here;
      path += folder + name;
      if (access(path.c_str(), R_OK) == 0) {
        return path;
      }
    }
  }
  return name;
}
} // namespace

DriverLibrary driverLibrary() {
  const std::string given = environment("TILE_CUDA_DRIVER"), device = environment("TILE_DEVICE");
  const bool emulated = device == "emu" || device.compare(0, 4, "emu:") == 0;
  if (!emulated && !device.empty() && device != "cuda") {
    throw Error(TILE_ERROR_NO_DRIVER,
                "TILE_DEVICE is `" + device + "`: give cuda, emu, or emu:sm_80");
  }
  if (!given.empty()) {
    return {given, emulated ? "the emulator" : "the CUDA driver", ""};
  }
  if (emulated) {
    return {emulatorLibrary(), "the emulator",
            " (LD_LIBRARY_PATH may have its folder, or TILE_CUDA_DRIVER its name)"};
  }
  return {"libcuda.so.1", "the CUDA driver", " (TILE_DEVICE=emu needs none)"};
}

} // namespace tile_rt
