#include "tools/tile-run/Results.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace tile_rt;
using Json = nlohmann::ordered_json;

namespace tile_run {

/// Whether a file ends within a line: what wrote it was ended.
static bool endsTorn(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() <= 0) {
    return false;
  }
  file.seekg(-1, std::ios::end);
  return file.get() != '\n';
}

/// To a nanosecond: events know no less.
static double microseconds(double milliseconds) { return std::round(milliseconds * 1e6) / 1e3; }

static Json jsonOf(const Times &times) {
  return {{"median", microseconds(times.median)},
          {"least", microseconds(times.least)},
          {"half", {microseconds(times.lower), microseconds(times.upper)}}};
}

Results::Results(const std::string &path) : path(path) {
  const bool isTorn = endsTorn(path);
  file.open(path, std::ios::app);
  if (isTorn) {
    file << "\n";
  }
  file.flush();
  if (!file) {
    throw InputError("cannot write `" + path + "`");
  }
}

void Results::add(const std::string &text, const CaseResult &result, const tile_context *context) {
  Json line = {{"case", text}, {"ok", result.ok}, {"text", result.text}};
  if (context) {
    line["device"] = context->info.name;
    line["driver"] = driverVersion(*context->driver);
    line["capability"] = context->info.major * 10 + context->info.minor;
    line["multiprocessors"] = context->info.smCount;
  }
  line["variants"] = result.variants;
  if (result.times) {
    line["microseconds"] = jsonOf(*result.times);
    line["launches"] = result.times->launches;
  }
  if (const auto &baseline = result.baseline) {
    Json &entry = line["baseline"] = {{"name", baseline->name}};
    if (!baseline->note.empty()) {
      entry["note"] = baseline->note;
    } else {
      entry["error"] = baseline->error;
    }
    if (baseline->times.launches) {
      entry["microseconds"] = jsonOf(baseline->times);
    }
  }
  if (const auto &readings = result.readings) {
    Json &entry = line["sensors"] = {{"samples", readings->samples}};
    for (const auto &[name, value] :
         {std::pair("megahertz", readings->megahertz), std::pair("watts", readings->watts)}) {
      if (value > 0) {
        entry[name] = value;
      }
    }
    if (!readings->note.empty()) {
      entry["note"] = readings->note;
    }
  }
  file << line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" << std::flush;
  if (!file) {
    throw InputError("cannot write `" + path + "`");
  }
}

std::string driverVersion(const Driver &driver) {
  int version = 0; // 1000 times the major plus 10 times the minor one
  driver.check(driver.getVersion(&version), "cuDriverGetVersion");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void printDevices() {
  std::shared_ptr<const Driver> driver = Driver::open();
  int count = 0;
  driver->check(driver->deviceGetCount(&count), "cuDeviceGetCount");
  if (count == 0) {
    throw Error(TILE_ERROR_NO_DRIVER, "the CUDA driver has no device");
  }
  for (int i = 0; i < count; ++i) {
    cu::Device device = 0;
    driver->check(driver->deviceGet(&device, i), "cuDeviceGet");
    char name[256] = {};
    driver->check(driver->deviceGetName(name, sizeof(name), device), "cuDeviceGetName");
    int major = 0, minor = 0;
    driver->check(driver->deviceGetAttribute(&major, cu::kCapabilityMajor, device),
                  "cuDeviceGetAttribute");
    driver->check(driver->deviceGetAttribute(&minor, cu::kCapabilityMinor, device),
                  "cuDeviceGetAttribute");
    const Json line = {{"device", i},
                       {"name", name},
                       {"arch", "sm_" + std::to_string(major * 10 + minor)},
                       {"driver", driverVersion(*driver)}};
    std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  }
}

} // namespace tile_run
