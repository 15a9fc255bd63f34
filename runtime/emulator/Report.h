// What the emulator finds wrong with a program, in words for the author of a kernel.
#pragma once

#include "ptx/Module.h"

#include <array>
#include <stdexcept>

namespace tile_emu {

/// Who did something: one thread of one block.
struct ThreadName {
  std::array<uint32_t, 3> block{}, thread{};
};

/// One side of a report: which instruction, by whom.
struct Party {
  std::string what; ///< "read by ldmatrix", "write by cp.async.bulk.tensor"
  uint32_t ptxLine = 0;
  ptx::SourceLocation source;
  ThreadName thread;
  bool asynchronous = false;  ///< done by the hardware some time after the thread issued it
  bool earlierLaunch = false; ///< by a launch before, which may still run; the thread is not known
};

struct Report {
  enum class Kind : uint8_t {
    Race,          ///< two accesses that nothing orders
    MissingFence,  ///< ordered, but not across the generic and asynchronous proxies
    InFlight,      ///< registers of a wgmma touched before its wait, or without wgmma.fence
    NonCoherent,   ///< ld.global.nc of memory that the kernel writes
    Uninitialised, ///< a value that was never written decides something
    OutOfBounds,
    Misaligned,
    Deadlock,    ///< nobody can go on
    Budget,      ///< more steps than allowed
    Divergence,  ///< lanes that have not converged before an `.aligned` instruction
    Start,       ///< a peer's shared memory is used before it is known to have started
    Exit,        ///< a block ended with asynchronous work, or a peer's, still going on here
    Barrier,     ///< misuse of a barrier: counts, phases, not initialised
    Unsupported, ///< instruction or modifier that the emulator does not know
    Invalid,     ///< operands against the ISA's rules
  };
  Kind kind = Kind::Invalid;
  std::string message; ///< one sentence
  std::vector<Party> parties;
  std::vector<std::string> notes;
  uint64_t count = 1; ///< how often it was seen, by whomever
};

std::string_view kindName(Report::Kind kind); ///< "data race", "missing proxy fence", ...

/// A report after which the program cannot go on.
struct Fault : std::runtime_error {
  Report report;
  explicit Fault(Report report) : std::runtime_error(report.message), report(std::move(report)) {}
};

/// "ldmatrix.m8n8.x4", "cp.async.bulk.tensor.2d": what to call an instruction in a sentence.
std::string shortName(const ptx::Instruction &instruction);

/// "(1,0,0)": a block or a thread.
std::string tuple(const std::array<uint32_t, 3> &of);

/// Several lines of text; `files` are the module's. Source lines appear as "gemm.tile:12:5".
std::string format(const Report &report, const std::map<uint32_t, std::string> &files);

} // namespace tile_emu
