//===- SelectSharedLayouts.cpp - order, panels and swizzle of buffers ----===//
#include "dialects/layout/Compatibility.h"
#include "dialects/support/Diagnostics.h"
#include "dialects/support/Target.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"
#include "passes/ProductLayouts.h"

namespace tilec {
#define GEN_PASS_DEF_SELECTSHAREDLAYOUTS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using layout::Answer;
using layout::Demand;
using layout::RegisterLayout;
using layout::SharedLayout;
using tgpu::CopyPath;
using tgpu::MmaKind;

namespace {

constexpr int64_t kHopeless = 16; // times what a block can have

using Demands = SmallVector<Demand, 4>;

Demand access(const RegisterLayout &fragment, Demand::Kind kind = Demand::Kind::Access) {
  Demand demand;
  demand.kind = kind;
  demand.fragment = fragment;
  return demand;
}

/// A copy between global memory and the buffer.
void addCopyDemand(tgpu::CopyOp copy, Value buffer, int64_t warps, Demands &demands) {
  auto type = cast<tgpu::SmemType>(buffer.getType());
  bool load = copy.getDest() == buffer;
  if (copy.getPath() == CopyPath::Tma) {
    Demand demand;
    demand.kind = load ? Demand::Kind::Tma : Demand::Kind::TmaStore;
    demand.required = true;
    demands.push_back(demand);
    return;
  }
  if (copy.getPath() == CopyPath::CpAsync && copy.getDest() == buffer) {
    Demand demand;
    demand.kind = Demand::Kind::CpAsync;
    demand.bytes = copy.getBytes().value_or(1);
    demand.required = true;
    demands.push_back(demand);
  }
  int64_t vec = std::max<int64_t>(1, copy.getBytes().value_or(1) * 8 /
                                         tile::getStorageBits(type.getElementType()));
  if (Answer<RegisterLayout> threads = RegisterLayout::blocked(type.getShape(), vec, warps)) {
    demands.push_back(access(*threads));
  }
}

/// What a matrix product needs of an operand in shared memory, which begins at `origin` of its buffer.
void addProductDemand(tgpu::DotOp dot, bool isA, ArrayRef<int64_t> origin, bool isWhole,
                      Demands &demands) {
  tgpu::MmaAttr mma = *dot.getMma();
  auto type = cast<tgpu::SmemType>((isA ? dot.getA() : dot.getB()).getType());
  bool transposed = isA ? dot.getTransposeA() : dot.getTransposeB();
  // Dimension of m (or n) and of k in the buffer as stored.
  unsigned mnDim = isA == transposed ? 1 : 0, kDim = 1 - mnDim;
  Demand demand;
  if (mma.getKind() == MmaKind::Wgmma) {
    demand.kind = Demand::Kind::Wgmma;
    demand.wgmma = {mnDim,
                    kDim,
                    isA ? mma.getM() : mma.getN(),
                    mma.getK(),
                    layout::Coords(origin.begin(), origin.end()),
                    layout::Coords(type.getShape().begin(), type.getShape().end())};
    demand.required = true;
    demand.weight = 4;
    demands.push_back(demand);
  } else if (mma.getKind() == MmaKind::Fma && isWhole) {
    if (Answer<RegisterLayout> reads = scalarReads(dot, isA)) {
      demands.push_back(access(*reads));
      demands.back().weight = 4;
    }
  } else if (mma.getKind() == MmaKind::MmaSync && isWhole) {
    int64_t k = type.getShape()[kDim];
    Type element = type.getElementType();
    layout::MmaType mmaType = tgpu::mmaTypeOf(element);
    ArrayRef<int64_t> acc = cast<RankedTensorType>(dot.getResult().getType()).getShape();
    auto product = tgpu::matrixProduct(mma, element, acc[0], acc[1], k);
    Answer<RegisterLayout> fragment = !product ? layout::Refusal{product.reason()}
                                      : isA    ? product->a()
                                               : product->b();
    if (!fragment) {
      return;
    }
    demand.fragment = transposed ? fragment->transposed() : *fragment;
    demand.trans = kDim == 0; // k is not contiguous
    demand.kind = demand.trans && layout::bitWidth(mmaType) != 16 ? Demand::Kind::Access
                                                                  : Demand::Kind::Ldmatrix;
    demand.weight = 4;
    demands.push_back(demand);
  }
}

Demands demandsOn(tgpu::AllocSharedOp alloc, int64_t warps) {
  Demands demands;
  using Origin = SmallVector<int64_t, 3>;
  SmallVector<std::pair<Value, Origin>> buffers;
  buffers.push_back({alloc.getResult(), Origin(alloc.getResult().getType().getRank(), 0)});
  while (!buffers.empty()) {
    auto [buffer, origin] = buffers.pop_back_val();
    for (OpOperand &use : buffer.getUses()) {
      Operation *user = use.getOwner();
      bool whole = buffer == alloc.getResult();
      if (auto copy = dyn_cast<tgpu::CopyOp>(user)) {
        addCopyDemand(copy, buffer, warps, demands);
      } else if (auto dot = dyn_cast<tgpu::DotOp>(user)) {
        addProductDemand(dot, use.getOperandNumber() == 0, origin, whole, demands);
      } else if (auto load = dyn_cast<tgpu::LocalLoadOp>(user); load && whole) {
        demands.push_back(
            access(*tgpu::getLayout(load.getResult().getType()), Demand::Kind::Words));
      } else if (auto store = dyn_cast<tgpu::LocalStoreOp>(user); store && whole) {
        demands.push_back(access(*tgpu::getLayout(store.getValue().getType())));
      } else if (auto part = dyn_cast<tgpu::SubviewOp>(user)) {
        Origin begin = origin;
        for (auto [at, offset] : llvm::zip_equal(begin, part.getOffsets())) {
          at += offset;
        }
        buffers.push_back({part.getResult(), begin});
      }
    }
  }
  return demands;
}

/// The layout that `@layout` asks for.
Answer<SharedLayout> hintedLayout(StringRef hint, ArrayRef<int64_t> shape, unsigned bits) {
  auto number = [&](StringRef name) {
    int64_t value = 0;
    StringRef text = hint;
    (void)(text.consume_front(name) && text.consume_front("(") && text.consume_back(")") &&
           text.getAsInteger(10, value));
    return value;
  };
  if (hint == "row_major") {
    return SharedLayout::rows(shape, bits);
  }
  if (int64_t width = number("swizzle")) {
    return SharedLayout::panels(shape, bits, width);
  }
  if (int64_t elements = number("padded")) {
    return SharedLayout::rows(shape, bits, -1, elements * bits / 8);
  }
  return layout::Refusal{"unknown layout `" + hint.str() + "`"};
}

/// Sets the layout of a buffer and of all parts of it.
void setLayout(Value buffer, tgpu::SharedAttr layout) {
  buffer.setType(cast<tgpu::SmemType>(buffer.getType()).withLayout(layout));
  for (Operation *user : buffer.getUsers()) {
    if (isa<tgpu::SubviewOp>(user)) {
      setLayout(user->getResult(0), layout);
    }
  }
}

struct SelectSharedLayouts : tilec::impl::SelectSharedLayoutsBase<SelectSharedLayouts> {
  void runOnOperation() override {
    if (failed(checkPrepared()) || failed(checkExtents())) {
      return signalPassFailure();
    }
    WalkResult result = getOperation().walk([&](tgpu::AllocSharedOp alloc) {
      return failed(select(alloc)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }

  /// Of a buffer that is larger than shared memory by far nothing is computed, which would take minutes; of one that is a little
  /// too large tgpu-allocate-shared gives an account beside all others.
  LogicalResult checkExtents() {
    tgpu::KernelOp kernel = getOperation();
    const Target *target = findTarget(kernel.getTarget().value_or(""));
    WalkResult result = kernel.walk([&](tgpu::AllocSharedOp alloc) {
      tgpu::SmemType type = alloc.getResult().getType();
      uint64_t bits = tile::getStorageBits(type.getElementType());
      for (int64_t extent : type.getShape()) {
        bits = llvm::SaturatingMultiply(bits, uint64_t(extent));
      }
      const int64_t bytes = llvm::divideCeil(bits, 8);
      if (!target || bytes <= kHopeless * target->sharedPerBlock) {
        return WalkResult::advance();
      }
      InFlightDiagnostic error = kernel.emitError(diag::formatDiagnostic(
          diag::Id::SharedTooLarge, bytes, StringRef(target->name), target->sharedPerBlock));
      std::string shape;
      llvm::raw_string_ostream os(shape);
      llvm::interleave(type.getShape(), os, "x");
      os << ' ' << type.getElementType();
      error.attachNote(alloc.getLoc())
          << "`" << alloc.getName().value_or("buffer") << "` alone, " << shape;
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// What the demands are computed from must be there.
  LogicalResult checkPrepared() {
    WalkResult result = getOperation().walk([](Operation *op) {
      bool ready = true;
      if (auto dot = dyn_cast<tgpu::DotOp>(op)) {
        ready = dot.getMma().has_value();
      } else if (auto load = dyn_cast<tgpu::LocalLoadOp>(op)) {
        ready = tgpu::getLayout(load.getResult().getType());
      } else if (auto store = dyn_cast<tgpu::LocalStoreOp>(op)) {
        ready = tgpu::getLayout(store.getValue().getType());
      }
      if (!ready) {
        op->emitError(
            "has no instruction or layout: run tgpu-select-mma and tgpu-infer-layouts first");
      }
      return ready ? WalkResult::advance() : WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult select(tgpu::AllocSharedOp alloc) {
    tgpu::SmemType type = alloc.getResult().getType();
    if (type.getLayout()) {
      return success();
    }
    unsigned bits = tile::getStorageBits(type.getElementType());
    Demands demands = demandsOn(alloc, getOperation().getNumWarps());
    StringRef name = alloc.getName().value_or("buffer");
    std::optional<SharedLayout> chosen;
    if (std::optional<StringRef> hint = alloc.getLayoutHint()) {
      Answer<SharedLayout> hinted = hintedLayout(*hint, type.getShape(), bits);
      std::string refusal = hinted ? unmetBy(*hinted, demands) : hinted.reason();
      if (!refusal.empty()) {
        return alloc.emitError(
            diag::formatDiagnostic(diag::Id::LayoutUnusable, *hint, name, refusal));
      }
      chosen = *hinted;
    } else {
      layout::SharedChoice choice = layout::chooseSharedLayout(type.getShape(), bits, -1, demands);
      if (!choice.allRequiredMet) {
        InFlightDiagnostic error =
            alloc.emitError() << diag::formatDiagnostic(
                diag::Id::NotSupportedTarget,
                "the combination of uses of shared buffer `" + name.str() + "`",
                getOperation().getTarget().value_or("this target"));
        for (const std::string &unmet : choice.unmet) {
          error.attachNote() << unmet;
        }
        return error;
      }
      if (choice.conflicts > 0) {
        alloc.emitRemark("shared buffer `")
            << name << "`: " << choice.conflicts << " extra wavefronts by bank conflicts";
      }
      chosen = withoutPadding(type, choice.layout, demands).value_or(choice.layout);
    }
    setLayout(alloc.getResult(), tgpu::SharedAttr::get(alloc.getContext(), *chosen));
    return success();
  }

  /// Plain rows where the chosen layout's padding alone makes a buffer too large for the target.
  std::optional<SharedLayout> withoutPadding(tgpu::SmemType type, const SharedLayout &layout,
                                             ArrayRef<Demand> demands) {
    const Target *target = findTarget(getOperation().getTarget().value_or(""));
    if (!target || layout.sizeBytes() <= target->sharedPerBlock) {
      return std::nullopt;
    }
    Answer<SharedLayout> rows =
        SharedLayout::rows(type.getShape(), tile::getStorageBits(type.getElementType()));
    const bool fits = rows && rows->sizeBytes() <= target->sharedPerBlock;
    return fits && unmetBy(*rows, demands).empty() ? std::optional(*rows) : std::nullopt;
  }

  /// The first required demand that `layout` does not meet; empty if there is none.
  static std::string unmetBy(const SharedLayout &layout, ArrayRef<Demand> demands) {
    for (const Demand &demand : demands) {
      if (demand.kind == Demand::Kind::Wgmma) {
        if (auto answer = layout::wgmmaDescriptor(layout, demand.wgmma); !answer) {
          return answer.reason();
        }
      } else if (demand.kind == Demand::Kind::Tma || demand.kind == Demand::Kind::TmaStore) {
        if (auto answer = layout::tmaBoxes(layout); !answer) {
          return answer.reason();
        }
      } else if (demand.kind == Demand::Kind::CpAsync) {
        if (std::string refusal = layout::cpAsyncRefusal(layout, demand.bytes); !refusal.empty()) {
          return refusal;
        }
      }
    }
    return "";
  }
};

} // namespace
