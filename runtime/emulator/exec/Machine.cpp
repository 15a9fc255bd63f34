#include "Machine.h"

#include "../async/Async.h"
#include "../matrix/Wgmma.h"
#include "DeadlockReport.h"
#include "Scheduler.h"
#include "SpecialRegisters.h"
#include "Visits.h"

#include <algorithm>

namespace tile_emu {

/// Instructions that a warp executes before the next one's turn.
static constexpr unsigned kQuantum = 64;
/// Turns of all its warps that a cluster gets before the next one.
static constexpr unsigned kRoundsPerCluster = 8;
/// Registers, shared and local memory of all clusters that are resident at the same time.
static constexpr uint64_t kMaxResidentBytes = uint64_t(4) << 30;

void Warp::undefine(Row row, unsigned lane, uint64_t bits) {
  if (!bits) {
    return;
  }
  auto &known = undefinedBits[row];
  if (!known && bits != ~uint64_t(0)) {
    known = std::make_unique<std::array<uint64_t, kWarpSize>>();
    known->fill(~uint64_t(0));
  }
  if (known) {
    bool wasDefined = defined[row] >> lane & 1;
    (*known)[lane] = wasDefined ? bits : (*known)[lane] | bits;
  }
  defined[row] &= ~(LaneMask(1) << lane);
}

void Warp::undefineAll(Row row, LaneMask lanes) {
  defined[row] &= ~lanes;
  for (LaneMask rest = undefinedBits[row] ? lanes : 0; rest; rest &= rest - 1) {
    (*undefinedBits[row])[unsigned(std::countr_zero(rest))] = ~uint64_t(0);
  }
}

std::array<uint32_t, 3> Block::threadIndex(uint32_t linear) const {
  uint32_t x = std::max(shape[0], 1u), y = std::max(shape[1], 1u);
  return {linear % x, linear / x % y, linear / x / y};
}

Machine::Machine(GlobalMemory &global, ReportSink &sink, const Options &options)
    : global(global), sink(sink), options(options), checker(sink), random(options.seed) {
  checker.enableRaces(options.checkRaces);
  checker.strictProxyReads = options.strictProxyReads;
  profile.enabled = options.profile;
  params.kind = Region::Kind::Param;
  params.name = "the kernel's parameters";
  params.readOnly = true;
}

Machine::~Machine() = default;

bool Machine::run(const LaunchConfig &launch) {
  config = &launch;
  params.bytes = launch.params;
  steps = 0;
  checker.newLaunch(launch.overlaps);
  scheduler = std::make_unique<Scheduler>(*this);
  bool finished = true;
  try {
    scheduler->run();
  } catch (const Fault &fault) {
    sink.add(fault.report);
    finished = false;
  }
  scheduler.reset(); // what a fault left unfinished is dropped
  config = nullptr;
  return finished;
}

void Machine::later(std::function<void()> task, Block &block, ThreadId issuer,
                    const ptx::Instruction *instruction) {
  scheduler->later({std::move(task), &block, issuer, instruction});
}

void Machine::exitLane(Step &step, unsigned lane) { scheduler->exitLane(step, lane); }

//===----------------------------------------------------------------------===//
// Clusters, blocks, warps
//===----------------------------------------------------------------------===//

static uint64_t volume(const std::array<uint32_t, 3> &v) { return uint64_t(v[0]) * v[1] * v[2]; }

/// Memory of one cluster, were all its threads to use their local memory.
static uint64_t clusterBytes(const LaunchConfig &config) {
  const Code &code = *config.code;
  uint64_t threads = volume(config.block), warps = (threads + kWarpSize - 1) / kWarpSize;
  uint64_t shared = code.dynamicSharedOffset + config.dynamicSharedBytes;
  uint64_t row = kWarpSize * sizeof(uint64_t);
  return volume(config.cluster) * (warps * code.numRows * row + threads * code.localBytes + shared);
}

void Machine::Scheduler::admit() {
  uint64_t perCluster = volume(machine.config->cluster);
  uint64_t limit =
      std::min<uint64_t>(machine.options.residentBlocks,
                         kMaxResidentBytes / clusterBytes(*machine.config) * perCluster);
  while (nextCluster != numClusters && (resident.empty() || residentBlocks + perCluster <= limit)) {
    resident.push_back(makeCluster(nextCluster++));
    residentBlocks += perCluster;
    roundsLeft = 0;
  }
}

std::unique_ptr<Cluster> Machine::Scheduler::makeCluster(uint64_t number) {
  const LaunchConfig &config = *machine.config;
  auto cluster = std::make_unique<Cluster>();
  std::array<uint64_t, 3> clusters;
  for (unsigned d = 0; d < 3; ++d) {
    clusters[d] = config.grid[d] / config.cluster[d];
  }
  std::array<uint64_t, 3> at = {number % clusters[0], number / clusters[0] % clusters[1],
                                number / clusters[0] / clusters[1]};
  for (uint32_t rank = 0; rank < volume(config.cluster); ++rank) {
    auto block = std::make_unique<Block>();
    std::array<uint32_t, 3> inside = {rank % config.cluster[0],
                                      rank / config.cluster[0] % config.cluster[1],
                                      rank / config.cluster[0] / config.cluster[1]};
    for (unsigned d = 0; d < 3; ++d) {
      block->index[d] = uint32_t(at[d] * config.cluster[d] + inside[d]);
    }
    block->number =
        uint32_t(block->index[0] +
                 config.grid[0] * (block->index[1] + uint64_t(config.grid[1]) * block->index[2]));
    block->rank = rank;
    block->cluster = cluster.get();
    block->firstThread = machine.checker.newBlock(block->index, config.block, uint32_t(number));
    if (volume(config.cluster) > 1) {
      block->started = machine.checker.newChannel(block->firstThread, "start of the block");
    }
    cluster->blocks.push_back(std::move(block));
  }
  for (auto &block : cluster->blocks) {
    startBlock(*block);
  }
  return cluster;
}

void Machine::Scheduler::startBlock(Block &block) {
  const LaunchConfig &config = *machine.config;
  const Code &code = *config.code;
  block.shape = config.block;
  block.threads = block.running = uint32_t(volume(config.block));
  block.dynamicSharedOffset = code.dynamicSharedOffset;
  block.shared.kind = Region::Kind::Shared;
  block.shared.name = "shared memory";
  block.shared.base = kSharedBase;
  block.shared.block = block.number;
  block.shared.bytes.resize(config.dynamicSharedBytes
                                ? code.dynamicSharedOffset + config.dynamicSharedBytes
                                : code.staticSharedBytes,
                            kNeverWritten);
  Checker::attach(block.shared, /*defined=*/false);
  block.warps.resize((block.threads + kWarpSize - 1) / kWarpSize);
  for (uint32_t i = 0; i < block.warps.size(); ++i) {
    block.warps[i].index = i;
    startWarp(block, block.warps[i]);
  }
}

/// What nobody has written is no zero, so that programs that rely on zeros compute something else:
/// all ones, a NaN in every floating-point type.
static void fillUndefined(const Code &code, Warp &warp) {
  for (size_t i = 0; i < code.registerRows.size(); ++i) {
    Row row = code.registerRows[i];
    if (row == Code::kNoRow) {
      continue;
    }
    ptx::Type type = code.function->registers[i].type;
    unsigned bits = type == ptx::Type::Pred ? 1 : ptx::bitsOf(type);
    uint64_t ones = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    uint64_t *values = warp.registers.data() + size_t(row) * kWarpSize;
    std::fill_n(values, (bits == 128 ? 2 : 1) * kWarpSize, ones);
  }
}

void Machine::Scheduler::startWarp(Block &block, Warp &warp) {
  const Code &code = *machine.config->code;
  uint32_t first = warp.index * kWarpSize, lanes = std::min(kWarpSize, block.threads - first);
  warp.firstThread = block.firstThread + first;
  warp.existing = lanes == kWarpSize ? ~LaneMask(0) : (LaneMask(1) << lanes) - 1;
  warp.registers.resize(size_t(code.numRows) * kWarpSize);
  warp.defined.resize(code.numRows);
  warp.undefinedBits.resize(code.numRows);
  fillUndefined(code, warp);
  warp.writtenAt.resize(code.numRows);
  warp.paths.reserve(kWarpSize);
  warp.paths.push_back(
      {.pc = 0, .lanes = warp.existing, .blocked = false, .gathering = false, .waiting = {}});
  for (const auto &[row, constant] : code.constants) {
    uint64_t *values = warp.registers.data() + size_t(row) * kWarpSize;
    warp.defined[row] = ~LaneMask(0);
    if (constant.kind == ConstantRow::Kind::Special) {
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        values[lane] = specialRegister(constant.name, machine, block, warp, lane) & constant.bits;
      }
      continue;
    }
    uint64_t value = constant.bits;
    if (constant.kind == ConstantRow::Kind::ModuleVariable) {
      auto it = machine.config->variables.find(constant.name);
      value += it == machine.config->variables.end() ? 0 : it->second;
    }
    std::fill_n(values, kWarpSize, value);
  }
}

bool Machine::Scheduler::retire() {
  bool any = false;
  for (size_t i = 0; i < resident.size();) {
    Cluster &cluster = *resident[i];
    if (std::any_of(cluster.blocks.begin(), cluster.blocks.end(),
                    [](const auto &block) { return block->running != 0; })) {
      ++i;
      continue;
    }
    runTasks(&cluster);
    for (auto &block : cluster.blocks) {
      machine.checker.endBlock(block->firstThread);
    }
    residentBlocks -= cluster.blocks.size();
    resident.erase(resident.begin() + ptrdiff_t(i));
    roundsLeft = 0;
    any = true;
  }
  return any;
}

void Machine::Scheduler::exitLane(Step &step, unsigned lane) {
  step.warp.exited |= LaneMask(1) << lane;
  if (step.warp.exited == step.warp.existing) {
    checkWgmmaAtExit(step);
    checkRegistersAtExit(step);
  }
  --step.block.running;
  bool reported = checkAsyncAtExit(step, lane);
  if (step.block.running == 0) {
    if (step.block.pendingAsync != 0 && !reported) {
      for (const Task &task : tasks) {
        if (task.block == &step.block) {
          reportUnfinished(step, task.issuer, *task.instruction);
          break;
        }
      }
    }
    checkVisits(step, lane);
  }
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

void Machine::Scheduler::run() {
  const LaunchConfig &config = *machine.config;
  numClusters = volume(config.grid) / volume(config.cluster);
  if (clusterBytes(config) > kMaxResidentBytes) {
    throw Fault({.kind = Report::Kind::Invalid,
                 .message = "one cluster needs more registers and local memory than the emulator "
                            "gives (4 GiB)",
                 .parties = {},
                 .notes = {}});
  }
  while (true) {
    admit();
    if (resident.empty()) {
      break;
    }
    bool moved = machine.options.randomSchedule ? randomRound() : orderlyRound();
    moved |= retire();
    if (!moved) {
      if (tasks.empty()) {
        deadlock();
      }
      runTask(machine.options.randomSchedule ? machine.random() % tasks.size() : 0);
    }
  }
  runTasks(nullptr);
}

bool Machine::Scheduler::orderlyRound() {
  bool any = false;
  for (auto &cluster : resident) {
    for (unsigned i = 0; i < kRoundsPerCluster; ++i) {
      bool moved = false;
      for (auto &block : cluster->blocks) {
        for (Warp &warp : block->warps) {
          moved |= turn(*block, warp, kQuantum);
        }
      }
      moved |= runTasks(nullptr);
      any |= moved;
      if (!moved) {
        break;
      }
    }
  }
  return any;
}

/// For a while some warps are slow and asynchronous work takes long, then others and other work.
void Machine::Scheduler::newEpoch() {
  static constexpr uint32_t kIdle[] = {0, 0, 32, 56, 63};
  static constexpr unsigned kChances[] = {1, 4, 16, 48};
  entries.clear();
  for (auto &cluster : resident) {
    for (auto &block : cluster->blocks) {
      for (Warp &warp : block->warps) {
        entries.push_back({block.get(), &warp, kIdle[machine.random() % std::size(kIdle)]});
      }
    }
  }
  roundsLeft = 1 + machine.random() % 64;
  taskChance = kChances[machine.random() % std::size(kChances)];
}

bool Machine::Scheduler::randomRound() {
  if (roundsLeft == 0) {
    newEpoch();
  }
  --roundsLeft;
  std::shuffle(entries.begin(), entries.end(), machine.random);
  auto round = [&](bool idle) {
    bool any = false;
    for (const Entry &entry : entries) {
      if (size_t count = entry.warp->arrivals.size();
          count != 0 && machine.random() % 64 < taskChance) {
        deliver(*entry.warp, machine.random() % count);
        any = true;
      }
      if (idle && machine.random() % 64 < entry.idleOf64) {
        continue;
      }
      any |= turn(*entry.block, *entry.warp, 1u << machine.random() % 9);
      if (!tasks.empty() && machine.random() % 64 < taskChance) {
        runTask(machine.random() % tasks.size());
        any = true;
      }
    }
    return any;
  };
  auto deliverEverywhere = [&] {
    bool any = false;
    for (const Entry &entry : entries) {
      any |= deliverAll(*entry.warp);
    }
    return any;
  };
  return round(true) || round(false) || deliverEverywhere();
}

//===----------------------------------------------------------------------===//
// Asynchronous work
//===----------------------------------------------------------------------===//

void Machine::Scheduler::later(Task task) {
  ++task.block->pendingAsync;
  tasks.push_back(std::move(task));
}

void Machine::Scheduler::runTask(size_t index) {
  Task task = std::move(tasks[index]);
  tasks.erase(tasks.begin() + ptrdiff_t(index));
  --task.block->pendingAsync;
  task.work();
}

void Machine::Scheduler::deliver(Warp &warp, size_t index) {
  // Of those at the same barrier the first.
  const RemoteArrival &drawn = warp.arrivals[index];
  auto first = std::find_if(warp.arrivals.begin(), warp.arrivals.end(), [&](auto &arrival) {
    return arrival.block == drawn.block && arrival.offset == drawn.offset;
  });
  std::function<void()> arrive = std::move(first->deliver);
  warp.arrivals.erase(first);
  arrive();
}

/// True if there were any.
bool Machine::Scheduler::deliverAll(Warp &warp) {
  std::vector<RemoteArrival> arrivals = std::exchange(warp.arrivals, {});
  for (const RemoteArrival &arrival : arrivals) {
    arrival.deliver();
  }
  return !arrivals.empty();
}

/// Those that wait now, of one cluster or all.
bool Machine::Scheduler::runTasks(const Cluster *only) {
  size_t count = tasks.size(), skipped = 0;
  for (size_t i = 0; i < count; ++i) {
    if (only && tasks[skipped].block->cluster != only) {
      ++skipped;
      continue;
    }
    runTask(skipped);
  }
  return count != skipped;
}

void Machine::Scheduler::deadlock() {
  std::vector<const Block *> blocks;
  for (auto &cluster : resident) {
    for (auto &block : cluster->blocks) {
      blocks.push_back(block.get());
    }
  }
  throw Fault(deadlockReport(*machine.config->code, blocks));
}

} // namespace tile_emu
