#include "Report.h"

#include <algorithm>

namespace tile_emu {

std::string_view kindName(Report::Kind kind) {
  switch (kind) {
  case Report::Kind::Race:
    return "data race";
  case Report::Kind::MissingFence:
    return "missing proxy fence";
  case Report::Kind::InFlight:
    return "registers in flight";
  case Report::Kind::NonCoherent:
    return "non-coherent read";
  case Report::Kind::Divergence:
    return "diverged warp";
  case Report::Kind::Start:
    return "early access";
  case Report::Kind::Uninitialised:
    return "uninitialised value";
  case Report::Kind::OutOfBounds:
    return "out of bounds";
  case Report::Kind::Misaligned:
    return "misaligned address";
  case Report::Kind::Deadlock:
    return "deadlock";
  case Report::Kind::Budget:
    return "too many steps";
  case Report::Kind::Exit:
    return "early exit";
  case Report::Kind::Barrier:
    return "misused barrier";
  case Report::Kind::Unsupported:
    return "unsupported";
  case Report::Kind::Invalid:
    return "invalid operation";
  }
  return "error";
}

std::string shortName(const ptx::Instruction &instruction) {
  constexpr size_t kLongest = 26;
  std::string name;
  for (const std::string &part : instruction.opcode) {
    bool isBarrier = name.starts_with("bar");
    if ((part == "sync" && !isBarrier) || part == "aligned") {
      continue; // says nothing to a reader
    }
    // What follows describes details: state spaces of copies, shapes, types of matrices.
    bool isDetail = part.find("::") != std::string::npos || name.size() + part.size() >= kLongest;
    if (!name.empty() && isDetail) {
      break;
    }
    name += (name.empty() ? "" : ".") + part;
  }
  return name;
}

std::string tuple(const std::array<uint32_t, 3> &of) {
  return "(" + std::to_string(of[0]) + "," + std::to_string(of[1]) + "," + std::to_string(of[2]) +
         ")";
}

static std::string describe(const Party &party) {
  if (party.earlierLaunch) {
    return party.what + ", in an earlier launch";
  }
  std::string text = party.what + (party.asynchronous ? ", issued by thread " : ", thread ");
  return text + tuple(party.thread.thread) + " of block " + tuple(party.thread.block);
}

/// "gemm.tile:12:5 (PTX line 210)"
static std::string place(const Party &party, const std::map<uint32_t, std::string> &files) {
  std::string ptxLine = party.ptxLine ? "PTX line " + std::to_string(party.ptxLine) : "";
  auto file = files.find(party.source.file);
  if (party.source.file == 0 || file == files.end()) {
    return ptxLine;
  }
  std::string name = file->second.substr(file->second.find_last_of('/') + 1) + ":" +
                     std::to_string(party.source.line);
  if (party.source.column) {
    name += ":" + std::to_string(party.source.column);
  }
  return ptxLine.empty() ? name : name + " (" + ptxLine + ")";
}

std::string format(const Report &report, const std::map<uint32_t, std::string> &files) {
  std::string text = std::string(kindName(report.kind)) + ": " + report.message;
  size_t width = 0;
  for (const Party &party : report.parties) {
    width = std::max(width, describe(party).size());
  }
  for (const Party &party : report.parties) {
    std::string line = describe(party), at = place(party, files);
    text += "\n  " + line;
    if (!at.empty()) {
      text += std::string(width - line.size() + 2, ' ') + at;
    }
  }
  for (const std::string &note : report.notes) {
    text += "\n  " + note;
  }
  if (report.count > 1) {
    text += "\n  seen " + std::to_string(report.count) + " times";
  }
  return text + "\n";
}

} // namespace tile_emu
