// What a call of a kernel runs on: the cpu target, the emulator of PTX, or a GPU through the CUDA
// driver. Executors throw tile_rt::Error for what is wrong with the call or the device.
#pragma once

#include "../include/tile/tile.h"
#include "../src/Manifest.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tile_rt {

/// Memory of an executor, aligned to 256 bytes; what is written beside it is noticed.
class Buffer {
public:
  virtual ~Buffer() = default;
  virtual uint64_t address() const = 0;
  virtual void write(const std::vector<std::byte> &data) = 0;
  /// Fills it with kPoison, as memory that nobody has written.
  virtual void poison() = 0;
  virtual std::vector<std::byte> read() const = 0;
  /// "" or which byte outside the memory was written.
  virtual std::string damage() const = 0;
  /// "" or how much of it was never written; "" where nobody can tell. If `holds` is given, of the bytes where it is not 0.
  virtual std::string unwritten(const std::vector<std::byte> &holds) const { return {}; }
};

class Executor {
public:
  virtual ~Executor() = default;
  /// As results show it: "cpu", "cuda", "emu sm_90a".
  virtual std::string name() const = 0;
  /// Poisoned memory; `name` is what reports call it.
  virtual std::unique_ptr<Buffer> allocate(size_t bytes, const std::string &name) = 0;
  /// Checks a call as tile_launch does and gets it ready to run. `args` stay as they are until the
  /// executor ends. Returns what was chosen, for people: "aligned"; with `verbose` a line for each
  /// launch; "" where nothing is chosen.
  virtual std::string prepare(std::span<const tile_arg> args, bool verbose) = 0;
  /// Runs the prepared call to its end.
  virtual void run() = 0;
  /// "" or what was damaged of the memory that the executor itself allocates.
  virtual std::string damage() const { return {}; }

  /// Whether it runs on what programs are measured on.
  virtual bool isTimed() const { return false; }

  /// What the executor found wrong so far.
  struct Findings {
    size_t count = 0;
    std::string summary; ///< the kinds: "data race, deadlock"
    std::string text;    ///< the reports, several lines each
  };
  virtual Findings findings() const { return {}; }
  /// A table of what the runs did, if it was asked for.
  virtual std::string profile() const { return {}; }
};

} // namespace tile_rt
