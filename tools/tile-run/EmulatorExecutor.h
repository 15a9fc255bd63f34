// Runs plans on the emulator of PTX (runtime/emulator).
#pragma once

#include "runtime/emulator/Emulator.h"
#include "runtime/src/Device.h"
#include "tools/tile-run/Options.h"
#include "tools/tile-run/PlanExecutor.h"

#include <map>
#include <optional>

namespace tile_run {

/// What planning sees of a device with this architecture ("sm_90a") and so many multiprocessors.
/// Throws tile_rt::InputError for one that the emulator does not know.
tile_rt::DeviceInfo emulatedDevice(const std::string &arch, unsigned multiprocessors);

/// One emulated device. The memory, the reports and the profile are its own.
class EmulatorExecutor : public PlanExecutor {
public:
  /// `kernel` is what will run. The device has the architecture that `options` name, else that of
  /// the first module of the pack. `seed` is that of a random schedule; none: round-robin.
  EmulatorExecutor(const tile_kernel &kernel, const CaseOptions &options,
                   std::optional<uint64_t> seed);
  ~EmulatorExecutor() override { workspace.reset(); }
  std::string name() const override { return "emu " + arch; }
  std::unique_ptr<tile_rt::Buffer> allocate(size_t bytes, const std::string &name) override;
  Findings findings() const override;
  std::string profile() const override;
  uint64_t steps() const { return stepsDone; } ///< instructions of warps, in all launches

private:
  const tile_rt::DeviceInfo &device() const override { return info; }
  void run(tile_rt::PreparedCall &call, uint64_t workspace) override;
  tile_emu::Emulator::Loaded &module(unsigned index);
  std::string ptxText(unsigned index) const;
  void fill(const tile_rt::PlannedFill &fill, uint64_t workspace);
  bool launch(const tile_rt::PlannedLaunch &launch, uint64_t workspace);
  void clearMessages();
  void readMessages(const tile_rt::Variant &variant);

  tile_pack &pack;
  const CaseOptions &options;
  std::string arch;
  tile_rt::DeviceInfo info;
  tile_emu::Emulator emulator;
  uint64_t stepsDone = 0;
  std::map<unsigned, std::shared_ptr<tile_emu::Emulator::Loaded>> modules; ///< by index
  std::optional<uint64_t> failures; ///< address of the record of failed checks, once one is needed
  std::optional<uint64_t> messages; ///< of the buffer of what is printed
};

} // namespace tile_run
