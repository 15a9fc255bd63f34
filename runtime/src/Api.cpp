// The C functions of tile.h: exceptions become a status and the thread's text.
#include "../include/tile/pack_format.h"
#include "Device.h"
#include "Guarded.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>

using namespace tile_rt;

static_assert(static_cast<int>(DType::F64) == TILE_F64 &&
              static_cast<int>(DType::Bool) == TILE_BOOL &&
              static_cast<int>(DType::E2M1) == TILE_E2M1 &&
              static_cast<int>(DType::U4) == TILE_U4 && TILE_U4 + 1 == kNumDTypes);

namespace {
std::string readFile(const char *path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path, "rb"), std::fclose);
  if (!file) {
    throw Error(TILE_ERROR_IO, std::string("cannot open `") + path + "`: " + std::strerror(errno));
  }
  std::string bytes;
  std::vector<char> piece(size_t{1} << 16);
  for (size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), file.get())) != 0;) {
    bytes.append(piece.data(), got);
  }
  if (std::ferror(file.get())) {
    throw Error(TILE_ERROR_IO, std::string("cannot read `") + path + "`: " + std::strerror(errno));
  }
  return bytes;
}

bool validDType(int32_t dtype) { return dtype >= 0 && dtype < kNumDTypes; }
} // namespace

const char *tile_last_error(void) { return lastError.c_str(); }

const char *tile_status_name(tile_status status) {
  static const char *const names[] = {"ok", "argument",  "no-variant", "pack",   "not-found",
                                      "io", "no-driver", "driver",     "memory", "check"};
  return static_cast<unsigned>(status) < std::size(names) ? names[status] : "unknown";
}

const char *tile_dtype_name(int32_t dtype) {
  return validDType(dtype) ? dtypeName(static_cast<DType>(dtype)) : nullptr;
}

int tile_dtype_bits(int32_t dtype) {
  return validDType(dtype) ? static_cast<int>(dtypeBits(static_cast<DType>(dtype))) : 0;
}

/// What kernels have printed so far. Never fails: where memory ends, so does the text.
static void showPrints(tile_context &context) {
  guarded([&] { show(context.prints.take()); });
}

tile_status tile_context_create(int device, tile_context **context) {
  return guarded([&] { *context = new tile_context(device); });
}

void tile_context_destroy(tile_context *context) {
  if (context) {
    showPrints(*context);
  }
  delete context;
}

tile_status tile_context_check(tile_context *context) {
  showPrints(*context);
  return guarded([&] { context->failures.check(); });
}

tile_status tile_load_pack_file(tile_context *context, const char *path, tile_pack **pack) {
  return guarded([&] { *pack = new tile_pack(context, readFile(path)); });
}

tile_status tile_load_pack_memory(tile_context *context, const void *data, size_t bytes,
                                  tile_pack **pack) {
  return guarded(
      [&] { *pack = new tile_pack(context, std::string(static_cast<const char *>(data), bytes)); });
}

void tile_pack_destroy(tile_pack *pack) {
  tile_context *context = pack ? pack->context : nullptr;
  delete pack;
  if (context) {
    showPrints(*context);
  }
}

const char *tile_pack_manifest(const tile_pack *pack) { return pack->manifestText.c_str(); }

size_t tile_pack_kernel_count(const tile_pack *pack) { return pack->kernels.size(); }

tile_kernel *tile_pack_kernel(tile_pack *pack, size_t index) {
  return index < pack->kernels.size() ? &pack->kernels[index] : nullptr;
}

tile_status tile_kernel_find(tile_pack *pack, const char *symbol, tile_kernel **kernel) {
  return guarded([&] {
    std::string known;
    for (tile_kernel &candidate : pack->kernels) {
      if (candidate.kernel->symbol == symbol) {
        *kernel = &candidate;
        return;
      }
      known += " `" + candidate.kernel->symbol + "`";
    }
    throw Error(TILE_ERROR_NOT_FOUND, std::string("the pack has no kernel `") + symbol +
                                          "`; it has" + (known.empty() ? " none" : known));
  });
}

const char *tile_kernel_symbol(const tile_kernel *kernel) { return kernel->kernel->symbol.c_str(); }

size_t tile_kernel_argument_count(const tile_kernel *kernel) {
  return kernel->kernel->arguments.size();
}

tile_status tile_kernel_argument(const tile_kernel *kernel, size_t index,
                                 tile_argument_info *info) {
  return guarded([&] {
    if (index >= kernel->kernel->arguments.size()) {
      throw Error(TILE_ERROR_NOT_FOUND, "no argument number " + std::to_string(index));
    }
    const Argument &argument = kernel->kernel->arguments[index];
    info->name = argument.name.c_str();
    info->rank =
        argument.isTensor ? static_cast<int32_t>(argument.extents.size()) : TILE_SCALAR_RANK;
    info->dtype = static_cast<int32_t>(argument.dtype);
    info->direction = static_cast<int32_t>(argument.direction);
    info->optional = argument.optional;
  });
}

tile_status tile_kernel_restrict(tile_kernel *kernel, const char *arch, const char *variant) {
  return guarded([&] {
    kernel->filter.arch = arch ? arch : "";
    kernel->filter.variant = variant ? variant : "";
    kernel->calls.clear();
  });
}

size_t tile_kernel_configuration_count(const tile_kernel *kernel) {
  return kernel->kernel->configurations.size();
}

tile_status tile_kernel_restrict_configuration(tile_kernel *kernel, int32_t configuration) {
  return guarded([&] {
    const size_t count = kernel->kernel->configurations.size();
    if (configuration < -1 || configuration >= static_cast<int64_t>(count)) {
      throw Error(TILE_ERROR_NOT_FOUND, "no configuration number " + std::to_string(configuration) +
                                            ": `" + kernel->kernel->symbol + "` has " +
                                            std::to_string(count));
    }
    kernel->filter.configuration.reset();
    if (configuration >= 0) {
      kernel->filter.configuration = static_cast<unsigned>(configuration);
    }
    kernel->calls.clear();
  });
}

namespace {
void prepare(tile_pack &pack, const std::vector<Statement> &block) {
  for (const Statement &statement : block) {
    prepare(pack, statement.then);
    prepare(pack, statement.otherwise);
    for (const Variant &variant : statement.variants) {
      bool fits =
          variant.sharedBytes + variant.staticSharedBytes <= pack.context->info.maxSharedBytes;
      if (fits && archRuns(pack.manifest.modules[variant.module], pack.context->info)) {
        pack.function(variant);
        if (!variant.checks.empty()) {
          pack.context->failures.address();
        }
        if (!variant.prints.empty()) {
          pack.context->prints.address();
        }
      }
    }
  }
}
} // namespace

tile_status tile_kernel_prepare(tile_kernel *kernel) {
  return guarded([&] {
    tile_pack &pack = *kernel->pack;
    if (!pack.context) {
      throw Error(TILE_ERROR_NO_DRIVER, "the pack was loaded without a context");
    }
    CurrentContext current(*pack.context->driver, pack.context->context);
    for (const Configuration &configuration : kernel->kernel->configurations) {
      prepare(pack, configuration.host);
    }
  });
}

tile_status tile_workspace_size(tile_kernel *kernel, const tile_arg *args, size_t count,
                                size_t *bytes) {
  return guarded([&] { *bytes = kernel->prepare(args, count)->plan.workspaceBytes; });
}

tile_status tile_launch(tile_kernel *kernel, const tile_arg *args, size_t count, void *stream,
                        void *workspace, size_t workspaceBytes) {
  return guarded([&] {
    if (kernel->pack->context) {
      showPrints(*kernel->pack->context);
      kernel->pack->context->failures.check();
    }
    const std::shared_ptr<PreparedCall> call = kernel->prepare(args, count);
    const LaunchPlan &plan = call->plan;
    uint64_t address = reinterpret_cast<uint64_t>(workspace);
    if (plan.workspaceBytes > 0) {
      if (!workspace || workspaceBytes < plan.workspaceBytes) {
        failCall("workspace", "this call needs " + std::to_string(plan.workspaceBytes) +
                                  " bytes of workspace, " +
                                  std::to_string(workspace ? workspaceBytes : 0) + " were given");
      }
      if (address % TILE_WORKSPACE_ALIGN != 0) {
        failCall("workspace", "the workspace does not begin at a multiple of " +
                                  std::to_string(TILE_WORKSPACE_ALIGN));
      }
      if (const Argument *tensor = call->overlapped(args, address)) {
        failCall("workspace", "the workspace overlaps `" + tensor->name + "`");
      }
    }
    kernel->pack->execute(*call, args, static_cast<cu::Stream>(stream), address);
  });
}

tile_status tile_describe(tile_kernel *kernel, const tile_arg *args, size_t count, char *text,
                          size_t size, size_t *needed) {
  return guarded([&] {
    std::string description =
        describePlan(kernel->pack->manifest, *kernel->kernel, kernel->prepare(args, count)->plan);
    if (needed) {
      *needed = description.size() + 1;
    }
    if (size > 0) {
      size_t length = std::min(size - 1, description.size());
      std::memcpy(text, description.data(), length);
      text[length] = 0;
    }
  });
}
