// Who runs next: resident clusters, turns of warps, paths within a warp, asynchronous work.
#pragma once

#include "Step.h"

namespace tile_emu {

class Machine::Scheduler {
public:
  explicit Scheduler(Machine &machine) : machine(machine) {}

  /// All clusters of the grid, to their end. Faults pass through.
  void run();
  struct Task {
    std::function<void()> work;
    Block *block;
    ThreadId issuer;
    const ptx::Instruction *instruction;
  };
  void later(Task task);
  void exitLane(Step &step, unsigned lane);

private:
  /// A warp in a random schedule: how often it is passed over.
  struct Entry {
    Block *block;
    Warp *warp;
    uint32_t idleOf64;
  };

  // Clusters: Machine.cpp.
  void admit();
  std::unique_ptr<Cluster> makeCluster(uint64_t number);
  void startBlock(Block &block);
  void startWarp(Block &block, Warp &warp);
  bool retire();

  // Rounds: Machine.cpp. True if anybody went on.
  bool orderlyRound();
  bool randomRound();
  void newEpoch();
  bool runTasks(const Cluster *only);
  static void deliver(Warp &warp, size_t index);
  static bool deliverAll(Warp &warp);
  void runTask(size_t index);
  [[noreturn]] void deadlock();

  // Turns: Turn.cpp.
  bool turn(Block &block, Warp &warp, unsigned quantum);
  Path *select(Warp &warp, unsigned preferredLane);
  bool execute(Block &block, Warp &warp, Path &path);
  void noteDivergence(Warp &warp, const Path &path, const Step &step, LaneMask onward);
  void checkConverged(Block &block, Warp &warp, const Path &path, const Op &op, LaneMask active);
  LaneMask gather(Block &block, Warp &warp, Path &path, const Op &op, LaneMask active);
  void wait(Warp &warp, Path &path, LaneMask active, std::function<std::string()> waiting,
            bool gathering = false);
  void moveOn(Warp &warp, Path &path, LaneMask lanes);
  void jump(Warp &warp, Path &path, const Step &step, LaneMask inactive);

  Machine &machine;
  std::vector<std::unique_ptr<Cluster>> resident;
  uint64_t nextCluster = 0, numClusters = 0;
  size_t residentBlocks = 0;
  std::deque<Task> tasks;
  std::vector<Entry> entries; ///< of a random schedule; made anew when clusters come and go
  unsigned roundsLeft = 0;    ///< of this epoch
  unsigned taskChance = 1;    ///< of 64, after every turn
};

} // namespace tile_emu
