//===- SelectMma.cpp - the instruction of each matrix product ------------===//
//
// In order of preference: wgmma (B in shared memory, whole warpgroups, extents that are multiples
// of the instruction's), mma.sync (any extents, padded), scalar multiply-adds (any types). What is
// refused becomes a remark with its reason, or an error if the program requires better. Operands in
// registers that the choice cannot take there go through shared memory.
//
//===----------------------------------------------------------------------===//
#include "passes/SelectMma.h"

#include "dialects/support/Diagnostics.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_SELECTMMA
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using tgpu::DotOp;
using tgpu::MmaKind;

namespace {

/// A product's extents and types.
struct Product {
  int64_t m, n, k;
  Type a, b, acc;
  bool aInShared, bInShared;
  bool partsFit; ///< for wgmma: parts of buffers begin at multiples of its units

  explicit Product(DotOp dot) {
    auto accType = cast<RankedTensorType>(dot.getAcc().getType());
    m = accType.getShape()[0];
    n = accType.getShape()[1];
    acc = accType.getElementType();
    auto shapeAndType = [](Value operand, bool &inShared) -> std::pair<ArrayRef<int64_t>, Type> {
      auto smem = dyn_cast<tgpu::SmemType>(operand.getType());
      inShared = bool(smem);
      if (smem) {
        return {smem.getShape(), smem.getElementType()};
      }
      auto tensor = cast<RankedTensorType>(operand.getType());
      return {tensor.getShape(), tensor.getElementType()};
    };
    auto [aShape, aType] = shapeAndType(dot.getA(), aInShared);
    auto [bShape, bType] = shapeAndType(dot.getB(), bInShared);
    k = aShape[dot.getTransposeA() ? 0 : 1];
    a = aType;
    b = bType;
    partsFit = beginsAtUnits(dot.getA(), dot.getTransposeA() ? 1 : 0) &&
               beginsAtUnits(dot.getB(), dot.getTransposeB() ? 0 : 1);
  }
  /// Rows at a multiple of 8 and k at a step, whatever the buffer's layout will be
  /// (layout::wgmmaDescriptor).
  bool beginsAtUnits(Value operand, unsigned rowDim) const {
    int64_t row = 0, k = 0;
    while (auto part = operand.getDefiningOp<tgpu::SubviewOp>()) {
      row += part.getOffsets()[rowDim];
      k += part.getOffsets()[1 - rowDim];
      operand = part.getSource();
    }
    return row % 8 == 0 && k % instructionK() == 0;
  }
  unsigned bits() const { return a.getIntOrFloatBitWidth(); }
  /// 32 bytes of operand along k: the k extent of wgmma, and of the largest mma.sync.
  int64_t instructionK() const { return 256 / bits(); }
};

bool isFp8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }
bool isTf32(DotOp dot, const Product &p) {
  return p.a.isF32() && p.b.isF32() && p.acc.isF32() &&
         dot.getPrecision() == tile::GemmPrecision::Tf32;
}

/// True for the operand and accumulator types that tensor cores multiply.
bool hasTensorCoreTypes(DotOp dot, const Product &p) {
  bool half = (p.a.isF16() || p.a.isBF16()) && p.a == p.b && p.acc.isF32();
  bool fp8 = isFp8(p.a) && isFp8(p.b) && p.acc.isF32();
  bool int8 = p.a.isInteger(8) && p.b.isInteger(8) && p.acc.isInteger(32);
  return half || fp8 || int8 || isTf32(dot, p);
}

/// Extent of the block that each of `parts` takes of `extent`, in whole units.
int64_t blockExtent(int64_t extent, int64_t parts, int64_t unit) {
  return llvm::divideCeil(extent, parts * unit) * unit;
}

bool admits(tile::GemmPolicy policy, int64_t rows, int64_t columns) {
  return (policy != tile::GemmPolicy::FullRow || columns == 1) &&
         (policy != tile::GemmPolicy::FullCol || rows == 1);
}

/// True if warps that share rows would have to exchange parts of them: A is in registers, which each
/// of these warps needs, or the result becomes such an A, or its rows are reduced.
bool exchangesRows(DotOp dot) {
  if (isa<RankedTensorType>(dot.getA().getType())) {
    return true;
  }
  llvm::SetVector<Value> reached; // by the result, each element in its place
  reached.insert(dot.getResult());
  for (size_t i = 0; i < reached.size(); ++i) {
    for (OpOperand &use : reached[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto reduce = dyn_cast<tile::ReduceOp>(user)) {
        if (reduce.getAxis() == 1) {
          return true;
        }
      } else if (auto next = dyn_cast<DotOp>(user)) {
        if (use.getOperandNumber() == 0 && !next.getTransposeA()) {
          return true;
        }
      } else if (user->hasTrait<OpTrait::Elementwise>() || isa<tile::MapOp>(user)) {
        reached.insert(user->result_begin(), user->result_end());
      } else if (isa<scf::YieldOp>(user)) {
        Operation *parent = user->getParentOp();
        if (isa<scf::IfOp, scf::ForOp>(parent)) {
          reached.insert(parent->getResult(use.getOperandNumber()));
        }
        if (auto loop = dyn_cast<scf::ForOp>(parent)) {
          reached.insert(loop.getRegionIterArg(use.getOperandNumber()));
        }
      }
    }
  }
  return false;
}

/// How `groups` share an accumulator of m x n in blocks of unitM x unitN, padded where these do not
/// divide: the split with the least work for a group, then without exchanges, then with the least
/// operand traffic, that the policy admits. Where the accumulator is small some groups have only
/// padding.
std::pair<int64_t, int64_t> splitWarps(int64_t m, int64_t n, int64_t unitM, int64_t unitN,
                                       int64_t groups, tile::GemmPolicy policy, bool keepsRows) {
  std::pair<int64_t, int64_t> best = {0, 0};
  std::tuple<int64_t, bool, int64_t> bestCost;
  for (int64_t rows = groups; rows >= 1; --rows) {
    int64_t columns = groups / rows;
    if (rows * columns != groups || !admits(policy, rows, columns)) {
      continue;
    }
    int64_t blockM = blockExtent(m, rows, unitM), blockN = blockExtent(n, columns, unitN);
    std::tuple<int64_t, bool, int64_t> cost = {blockM * blockN, keepsRows && columns > 1,
                                               blockM + blockN};
    if (best.first == 0 || cost < bestCost) {
      best = {rows, columns};
      bestCost = cost;
    }
  }
  return best;
}

/// How warpgroups share it without padding. Rows first: each warpgroup then reads all of B, which
/// it shares, and its own part of A. {0, 0} if there is no way.
std::pair<int64_t, int64_t> splitWarpgroups(int64_t m, int64_t n, int64_t unitN, int64_t groups,
                                            tile::GemmPolicy policy) {
  for (int64_t rows = groups; rows >= 1; --rows) {
    const int64_t columns = groups / rows;
    if (rows * columns == groups && admits(policy, rows, columns) && m % (64 * rows) == 0 &&
        n % (unitN * columns) == 0) {
      return {rows, columns};
    }
  }
  return {0, 0};
}

MmaChoice chooseWgmma(DotOp dot, const Product &p, const Target &target, int64_t warps) {
  if (!target.hasWgmma) {
    return {{}, ("`" + target.name + "` has no wgmma").str()};
  }
  if (!hasTensorCoreTypes(dot, p)) {
    return {{}, "tensor cores do not multiply these types"};
  }
  if (!p.bInShared) {
    return {{}, "wgmma reads B from shared memory, here it is a fragment"};
  }
  if (warps % 4 != 0) {
    return {{}, "wgmma needs whole warpgroups of 128 threads"};
  }
  if (!p.partsFit) {
    return {{},
            "a part of shared memory that it reads begins inside its groups of 8 rows or "
            "32 bytes of k"};
  }
  bool bKMajor = dot.getTransposeB(), aKMajor = !dot.getTransposeA();
  if (p.bits() != 16 && (!bKMajor || (p.aInShared && !aKMajor))) {
    return {{},
            "wgmma reads operands of " + std::to_string(p.bits()) + " bits only with k contiguous"};
  }
  int64_t unitN = p.acc.isInteger(32) ? 16 : 8;
  if (p.m % 64 != 0 || p.n % unitN != 0 || p.k % p.instructionK() != 0) {
    return {{},
            "extents " + std::to_string(p.m) + "x" + std::to_string(p.n) + "x" +
                std::to_string(p.k) + " are not multiples of 64x" + std::to_string(unitN) + "x" +
                std::to_string(p.instructionK())};
  }
  int64_t groups = warps / 4;
  auto split = splitWarpgroups(p.m, p.n, unitN, groups, dot.getPolicy());
  if (split.first == 0) {
    return {{}, "neither rows nor columns divide among " + std::to_string(groups) + " warpgroups"};
  }
  int64_t columns = p.n / split.second, n = 0;
  for (int64_t candidate = std::min<int64_t>(256, columns); candidate >= 8; candidate -= unitN) {
    if (columns % candidate == 0 && candidate % unitN == 0) {
      n = candidate;
      break;
    }
  }
  return {tgpu::MmaAttr::get(dot.getContext(), MmaKind::Wgmma, 64, n, p.instructionK(), split.first,
                             split.second),
          ""};
}

MmaChoice chooseMmaSync(DotOp dot, const Product &p, const Target &target, int64_t warps) {
  if (!hasTensorCoreTypes(dot, p)) {
    return {{}, "tensor cores do not multiply these types"};
  }
  auto [rows, columns] = splitWarps(p.m, p.n, 16, 8, warps, dot.getPolicy(), exchangesRows(dot));
  return {tgpu::MmaAttr::get(dot.getContext(), MmaKind::MmaSync, 16, 8, p.instructionK(), rows,
                             columns),
          ""};
}

struct SelectMma : tilec::impl::SelectMmaBase<SelectMma> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target) {
      return signalPassFailure();
    }
    WalkResult result = getOperation().walk([&](DotOp dot) {
      return failed(select(dot, *target)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }

  /// Stores operands that are fragments to shared memory, where the product reads them. The buffer
  /// is the block's: it outlives loops around the product, so that nothing multiplies it.
  void putInShared(DotOp dot, const Twine &reason) {
    for (bool isA : {true, false}) {
      OpOperand &operand = isA ? dot.getAMutable() : dot.getBMutable();
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type) {
        continue;
      }
      dot.emitRemark("gemm reads its operand ")
          << (isA ? "A" : "B") << " through shared memory: " << reason;
      OpBuilder entry = OpBuilder::atBlockBegin(&getOperation().getBody().front());
      auto buffer = tgpu::SmemType::get(dot.getContext(), type.getShape(), type.getElementType(),
                                        tgpu::SharedAttr());
      Value shared = tgpu::AllocSharedOp::create(
          entry, dot.getLoc(), buffer, entry.getStringAttr(isA ? "A of gemm" : "B of gemm"),
          StringAttr(), IntegerAttr());
      OpBuilder builder(dot);
      tgpu::LocalStoreOp::create(builder, dot.getLoc(), operand.get(), shared);
      operand.set(shared);
    }
  }

  /// Says what the instruction computes besides the product.
  static void remarkPadding(DotOp dot, const Product &p, tgpu::MmaAttr mma) {
    int64_t m = blockExtent(p.m, mma.getWarpsM(), mma.getM()) * mma.getWarpsM();
    int64_t n = blockExtent(p.n, mma.getWarpsN(), mma.getN()) * mma.getWarpsN();
    int64_t k = llvm::alignTo(p.k, mma.getK());
    if (m != p.m || n != p.n || k != p.k) {
      dot.emitRemark("gemm is padded from ")
          << p.m << 'x' << p.n << 'x' << p.k << " to " << m << 'x' << n << 'x' << k
          << ", whole instructions for each warp";
    }
  }

  LogicalResult select(DotOp dot, const Target &target) {
    Product product(dot);
    int64_t warps = getOperation().getNumWarps();
    MmaChoice wgmma = chooseWgmma(dot, product, target, warps);
    if (wgmma.mma) {
      dot.setMmaAttr(wgmma.mma);
      return success();
    }
    if (failed(checkRequired(dot, "wgmma", wgmma.refusal))) {
      return failure();
    }
    MmaChoice mma = chooseMmaSync(dot, product, target, warps);
    if (mma.mma) {
      if (target.hasWgmma) {
        dot.emitRemark("gemm uses mma.sync, not wgmma: ") << wgmma.refusal;
      }
      if (isFp8(product.a) && !target.hasFp8Mma()) {
        dot.emitRemark("gemm decodes its operands to f16 in registers: `")
            << target.name << "` has no matrix instruction for fp8";
      }
      remarkPadding(dot, product, mma.mma);
      dot.setMmaAttr(mma.mma);
      if (product.k % product.instructionK() != 0) {
        putInShared(dot, "its k of " + std::to_string(product.k) + " is no multiple of " +
                             std::to_string(product.instructionK()));
      }
      return success();
    }
    if (failed(checkRequired(dot, "mma", mma.refusal))) {
      return failure();
    }
    dot.emitRemark("gemm uses scalar multiply-adds, no matrix instruction: ") << mma.refusal;
    dot.setMmaAttr(tgpu::MmaAttr::get(dot.getContext(), MmaKind::Fma, 1, 1, 1, 1, warps));
    putInShared(dot, "scalar multiply-adds read operands that all threads see");
    return success();
  }
};

} // namespace

MmaChoice tilec::selectWgmma(DotOp dot, const Target &target, int64_t warps) {
  return chooseWgmma(dot, Product(dot), target, warps);
}
