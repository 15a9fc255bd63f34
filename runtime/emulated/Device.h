// A device that a CUDA driver would have, on the emulator of PTX: memory, modules, launches. What the emulator finds fault with
// ends the device's work, as a fault on a GPU does: its text goes to standard error at once, and every call from then on fails
// until the context is gone. Launches run to their end before they return, so all streams are one. Thread-safe.
#pragma once

#include "../emulator/Capability.h"
#include "../emulator/Emulator.h"
#include "../src/Driver.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tile_emulated {

namespace cu = tile_rt::cu;

/// Of CUresult.
enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kInvalidPtx = 218,
  kInvalidHandle = 400,
  kNotFound = 500,
  kLaunchFailed = 719,
  kNotSupported = 801,
};

/// A failed call: what it returns, and why, for cuGetErrorString.
struct Failure {
  Result result;
  std::string why;
};

class Device;
class Library;

/// What a cu::Kernel points to: an entry, on whatever device.
struct Kernel {
  const Library &library;
  std::string entry;
};

/// What a cu::Library points to: PTX, which each device reads when one of its functions is asked for.
class Library {
public:
  explicit Library(std::string image) : image(std::move(image)) {}
  const std::string image;

  Kernel &kernel(const std::string &entry);

private:
  std::mutex mutex; ///< guards what follows
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
};

/// What a cu::Function points to.
struct Function {
  std::shared_ptr<tile_emu::Emulator::Loaded> module;
  std::string entry;
  std::vector<uint64_t> parameterBytes;
  unsigned maxDynamicShared = 48 * 1024; ///< more has to be asked for
};

/// The methods throw Failure.
class Device {
public:
  Device(std::string arch, tile_emu::Capability capability)
      : arch(std::move(arch)), capability(capability) {}

  std::string name() const { return "emulated " + arch; }
  int attribute(int which) const;

  /// The primary context, which is the device itself: what is on it goes with its last user.
  void retain();
  void release();

  /// Throws what went wrong earlier.
  void check();
  uint64_t allocate(uint64_t bytes);
  void free(uint64_t address);
  void *allocateHost(uint64_t bytes);
  uint64_t addressOf(void *host);
  void freeHost(void *host);
  void write(uint64_t to, const void *from, uint64_t bytes);
  void read(void *to, uint64_t from, uint64_t bytes);
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  /// `rows` rows, `pitch` bytes apart, of `count` elements each.
  void fill(uint64_t to, uint64_t bits, unsigned elementBytes, uint64_t count, uint64_t rows = 1,
            uint64_t pitch = 0);

  cu::Function function(const Kernel &kernel);
  void unload(const Library &library);
  void setAttribute(cu::Function function, int which, int value);
  /// Blocks that a multiprocessor holds by their threads and shared memory.
  int maxActiveBlocks(int threads, uint64_t sharedBytes) const;
  void launch(const cu::LaunchConfig &config, cu::Function function, void *const *params);

private:
  struct LoadedModule {
    std::shared_ptr<tile_emu::Emulator::Loaded> loaded;
    std::map<std::string, std::unique_ptr<Function>> functions;
  };

  tile_emu::Emulator &running(); ///< throws if there is no context, or an earlier failure
  LoadedModule &load(const Library &library);
  Function &find(cu::Function function);
  tile_emu::Emulator::Launch describe(const cu::LaunchConfig &config, const Function &function,
                                      void *const *params) const;

  const std::string arch;
  const tile_emu::Capability capability;
  std::mutex mutex; ///< guards all below
  unsigned users = 0;
  std::unique_ptr<tile_emu::Emulator> emulator;
  unsigned allocations = 0;
  std::map<void *, uint64_t> shared; ///< addresses, by what the host sees
  std::map<const Library *, LoadedModule> modules;
  std::string failure; ///< what was found; empty: nothing yet
};

} // namespace tile_emulated
