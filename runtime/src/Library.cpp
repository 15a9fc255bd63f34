#include "Library.h"

#include <algorithm>
#include <cstdint>

namespace tile_rt {

namespace {
/// What is in use. Never destroyed: packs in static objects may outlive those of this file.
struct Libraries {
  std::mutex mutex;
  std::vector<std::weak_ptr<Library>> all;
};
Libraries &libraries() {
  static auto &made = *new Libraries;
  return made;
}
constexpr size_t kLogBytes = 4096;
} // namespace

std::shared_ptr<Library> Library::of(const std::shared_ptr<const Driver> &driver,
                                     std::string image) {
  Libraries &known = libraries();
  std::lock_guard<std::mutex> lock(known.mutex);
  known.all.erase(std::remove_if(known.all.begin(), known.all.end(),
                                 [](const auto &one) { return one.expired(); }),
                  known.all.end());
  for (const std::weak_ptr<Library> &one : known.all) {
    std::shared_ptr<Library> library = one.lock();
    // Contexts open the driver for themselves: it is the same one if its functions are.
    if (library && library->driver->libraryLoad == driver->libraryLoad && library->image == image) {
      return library;
    }
  }
  auto made = std::make_shared<Library>(driver, std::move(image));
  known.all.push_back(made);
  return made;
}

Library::Library(std::shared_ptr<const Driver> driver, std::string image)
    : driver(std::move(driver)), image(std::move(image)), log(kLogBytes) {}

Library::~Library() {
  if (loaded) {
    driver->libraryUnload(
        loaded); // a driver that is shutting down refuses: nothing is left to unload
  }
}

std::string Library::withLog(const std::string &message) const {
  return log[0] ? message + " (" + log.data() + ")" : message;
}

cu::Function Library::function(const std::string &entry, const std::string &what) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!loaded) {
    int jitOptions[] = {cu::kJitErrorLog, cu::kJitErrorLogBytes};
    void *jitValues[] = {log.data(), reinterpret_cast<void *>(uintptr_t{kLogBytes - 1})};
    int options[] = {cu::kLibraryBinaryIsPreserved};
    void *values[] = {reinterpret_cast<void *>(uintptr_t{1})};
    log[0] = 0;
    cu::Library library = nullptr;
    const cu::Result result =
        driver->libraryLoad(&library, image.c_str(), jitOptions, jitValues, 2, options, values, 1);
    driver->check(result, withLog("loading " + what));
    loaded = library;
  }
  cu::Kernel kernel = nullptr;
  driver->check(driver->libraryGetKernel(&kernel, loaded, entry.c_str()),
                withLog("finding the entry `" + entry + "`"));
  cu::Function function = nullptr;
  driver->check(driver->kernelGetFunction(&function, kernel),
                withLog("loading `" + entry + "` of " + what));
  return function;
}

} // namespace tile_rt
