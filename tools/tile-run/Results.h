// The results of cases as lines of JSON, for programs.
#pragma once

#include "tools/tile-run/Case.h"

#include <fstream>

namespace tile_run {

/// A file that gets a line for each case, as soon as there is one. What is there is kept.
class Results {
public:
  /// Throws tile_rt::InputError where it cannot be written.
  explicit Results(const std::string &path);

  /// `context` is null on the emulator.
  void add(const std::string &text, const CaseResult &result, const tile_context *context);

private:
  std::string path;
  std::ofstream file;
};

/// Prints the devices of the driver, each as a line of JSON. Throws tile_rt::Error where there is none.
void printDevices();

/// "13.0"
std::string driverVersion(const tile_rt::Driver &driver);

} // namespace tile_run
