// What the handles of tile.h stand for: contexts, packs, kernels; loading of modules and execution
// of plans.
#pragma once

#include "Choices.h"
#include "Driver.h"
#include "Embedded.h"
#include "Failures.h"
#include "Library.h"
#include "Prepared.h"
#include "Prints.h"

#include <map>
#include <memory>
#include <mutex>

struct tile_context {
  std::shared_ptr<const tile_rt::Driver> driver;
  tile_rt::cu::Device device = 0;
  tile_rt::cu::Context context = nullptr;
  tile_rt::DeviceInfo info;
  tile_rt::Failures failures; ///< of checks in kernels of this context
  tile_rt::Prints prints;     ///< of its kernels
  tile_rt::EmbeddedPacks embedded;

  /// Opens the driver and retains the device's primary context.
  explicit tile_context(int ordinal);
  ~tile_context();
  tile_context(const tile_context &) = delete;
};

struct tile_kernel {
  tile_pack *pack = nullptr;
  const tile_rt::Kernel *kernel = nullptr;
  tile_rt::VariantFilter filter;
  tile_rt::KeyRules rules;
  mutable tile_rt::PreparedCalls calls; ///< earlier ones, under this filter

  /// Checks and plans a call, or finds it among earlier ones. Throws Error; also where the pack was
  /// loaded without a context.
  std::shared_ptr<tile_rt::PreparedCall> prepare(const tile_arg *args, size_t count) const;
};

struct tile_pack {
  tile_context *context = nullptr; ///< may be null
  std::string bytes;               ///< the file
  std::string manifestText;
  std::string_view body;
  tile_rt::Manifest manifest;
  std::vector<tile_kernel> kernels;

  /// Parses; throws TILE_ERROR_PACK.
  tile_pack(tile_context *context, std::string fileBytes);
  tile_pack(const tile_pack &) = delete;

  /// The variant's function, its module loaded and its attributes set on first use. The context
  /// must be current.
  tile_rt::cu::Function function(const tile_rt::Variant &variant);
  /// Enqueues a call with these arguments, which it takes. `workspace` is large enough and aligned.
  void execute(tile_rt::PreparedCall &call, const tile_arg *args, tile_rt::cu::Stream stream,
               uint64_t workspace);

private:
  void leaveRoom(tile_rt::cu::Function function, const tile_rt::Variant &variant) const;
  std::string image(const tile_rt::Module &description) const;
  void fill(const tile_rt::PlannedFill &fill, tile_rt::cu::Stream stream, uint64_t workspace) const;
  void complete(tile_rt::LaunchState &state, const tile_rt::PlannedLaunch &launch);
  void launch(const tile_rt::PreparedCall &call, size_t step, const tile_arg *args,
              tile_rt::cu::Stream stream, uint64_t workspace);

  std::mutex mutex;                                         ///< guards the two below
  std::vector<std::shared_ptr<tile_rt::Library>> libraries; ///< of modules; null until used
  std::map<const tile_rt::Variant *, tile_rt::cu::Function> functions;
};
