// PTX ISA, "Control Flow Instructions", and what only the clock or a profiler would notice.
#include "ControlFlow.h"

#include "Step.h"

namespace tile_emu {

Execute decodeBra(Decoder &decoder) {
  decoder.take("uni");
  uint32_t target = decoder.label(0);
  decoder.op.targets = {target};
  decoder.op.fallsThrough = decoder.op.guard.has_value();
  return [target](Step &step) {
    step.targets.fill(target);
    step.jumped = step.lanes;
    return Outcome::Jumped;
  };
}

Execute decodeBrx(Decoder &decoder) {
  decoder.expect("idx");
  decoder.take("uni");
  Row index = decoder.source(0, ptx::Type::U32);
  const ptx::Operand &list = decoder.operand(1);
  const auto &lists = decoder.enclosing().branchTargets;
  if (list.kind != ptx::Operand::Kind::Label || list.index >= lists.size()) {
    decoder.invalid("operand 2 must be a list of branch targets");
  }
  decoder.op.targets = lists[list.index];
  decoder.op.fallsThrough = decoder.op.guard.has_value();
  return [index, targets = lists[list.index]](Step &step) {
    step.forLanes([&](unsigned lane) {
      uint64_t i = step.get(index, lane);
      if (i >= targets.size()) {
        step.fault(Report::Kind::Invalid,
                   "index " + std::to_string(i) + " in a list of " +
                       std::to_string(targets.size()) + " branch targets",
                   lane);
      }
      step.jump(lane, targets[i]);
    });
    return Outcome::Jumped;
  };
}

static Outcome exitLanes(Step &step) {
  step.forLanes([&](unsigned lane) { step.exit(lane); });
  return Outcome::Jumped;
}

Execute decodeExit(Decoder &decoder) {
  decoder.op.fallsThrough = decoder.op.guard.has_value();
  return exitLanes;
}

Execute decodeRet(Decoder &decoder) {
  decoder.take("uni");
  return decodeExit(decoder);
}

Execute decodeTrap(Decoder &) {
  return [](Step &step) -> Outcome {
    step.fault(Report::Kind::Invalid, "the program stops itself with `trap`");
  };
}

Execute decodeBrkpt(Decoder &) {
  return [](Step &step) -> Outcome {
    step.fault(Report::Kind::Invalid, "the program stops itself with `brkpt`");
  };
}

Execute decodeCall(Decoder &decoder) { decoder.unsupported("calls of functions"); }

/// Time does not pass; others get their turns anyway.
Execute decodeNanosleep(Decoder &decoder) {
  decoder.expect("u32");
  decoder.source(0, ptx::Type::U32);
  return [](Step &) { return Outcome::Next; };
}

Execute decodePmevent(Decoder &decoder) {
  decoder.take("mask");
  decoder.immediate(0);
  return [](Step &) { return Outcome::Next; };
}

} // namespace tile_emu
