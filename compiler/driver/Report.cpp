#include "compiler/driver/Report.h"

#include "compiler/emit/SourceLocation.h"
#include "dialects/tile/ElementNames.h"
#include "passes/Analysis.h"
#include "passes/MachineModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace tilec {

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// "`As`: 65536 bytes at 0, 4x128x64 f16, swizzle of 128 bytes".
static std::string describe(tgpu::AllocSharedOp alloc) {
  tgpu::SmemType type = alloc.getResult().getType();
  const layout::SharedLayout *layout = tgpu::getLayout(type);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "shared buffer `" << alloc.getName().value_or("buffer")
     << "`: " << (layout ? layout->sizeBytes() : 0) << " bytes at " << alloc.getOffset().value_or(0)
     << ", ";
  llvm::interleave(type.getShape(), os, "x");
  os << ' ' << type.getElementType();
  if (layout && layout->swizzle() != 0) {
    os << ", swizzle of " << layout->swizzle() << " bytes";
  }
  return text;
}

static Type elementOf(Type type) {
  if (auto pending = dyn_cast<tgpu::PendingType>(type)) {
    type = pending.getFragment();
  }
  if (auto buffer = dyn_cast<tgpu::SmemType>(type)) {
    return buffer.getElementType();
  }
  return cast<ShapedType>(type).getElementType();
}

/// What PTX calls the elements of an operand of a product.
static std::string operandName(Type type, bool isUnsigned) {
  Type element = elementOf(type);
  if (element.isF32()) {
    return "tf32";
  }
  if (element.isInteger()) {
    return (isUnsigned ? "u" : "s") + std::to_string(element.getIntOrFloatBitWidth());
  }
  return tile::elementName(element);
}

static std::string accumulatorName(Type type) {
  Type element = elementOf(type);
  return element.isInteger() ? "s32" : tile::elementName(element);
}

/// "m64n256k16 f32.f16.f16"
template <typename Op>
static std::string shapeOf(Op op, int64_t k, llvm::StringRef a, llvm::StringRef b) {
  return llvm::formatv("m{0}n{1}k{2} {3}.{4}.{5}", op.getMma().getM(), op.getMma().getN(), k,
                       accumulatorName(op.getAcc().getType()), a, b);
}

/// The instruction of a product, as PTX names it; empty for other operations.
static std::string productOf(Operation *op, const Target &target) {
  auto names = [](auto product) {
    return std::pair(operandName(product.getA().getType(), product.getAUnsigned()),
                     operandName(product.getB().getType(), product.getBUnsigned()));
  };
  if (auto wgmma = dyn_cast<tgpu::WgmmaOp>(op)) {
    auto [a, b] = names(wgmma);
    return "wgmma " + shapeOf(wgmma, wgmma.getMma().getK(), a, b);
  }
  if (auto mma = dyn_cast<tgpu::MmaOp>(op)) {
    auto [a, b] = names(mma);
    const int64_t k = mma.getMma().getK();
    const bool isDecoded = isa<Float8E4M3FNType, Float8E5M2Type>(elementOf(mma.getA().getType())) &&
                           !target.hasFp8Mma();
    return "mma.sync " + (isDecoded ? shapeOf(mma, k / 2, "f16", "f16") : shapeOf(mma, k, a, b));
  }
  return isa<tgpu::FmaOp>(op) ? "scalar multiply-adds" : "";
}

void reportKernels(ModuleOp module, const KernelSubjects &subjects, DiagnosticEngine &diags) {
  module.walk([&](tgpu::KernelOp kernel) {
    const Target *target = getTarget(kernel);
    const Subject subject = subjects.of(kernel);
    kernel.walk([&](Operation *op) {
      auto remark = [&](const llvm::Twine &text) {
        diags.remark(subject, sourceRange(op->getLoc(), diags), text);
      };
      if (auto alloc = dyn_cast<tgpu::AllocSharedOp>(op)) {
        remark(describe(alloc));
      } else if (isa<tgpu::TmaLoadOp>(op)) {
        remark("copy moves by TMA");
      } else if (isa<tgpu::TmaStoreOp>(op)) {
        remark("copy stores by TMA");
      } else if (auto copy = dyn_cast<tgpu::CpAsyncOp>(op)) {
        remark("copy moves by cp.async of " + llvm::Twine(copy.getBytes()) + " bytes");
      } else if (isa<tgpu::WgmmaOp, tgpu::MmaOp>(op)) {
        remark("gemm uses " + productOf(op, *target));
      }
    });
  });
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

std::map<std::string, KernelSummary> summarise(ModuleOp module, const KernelSubjects &subjects,
                                               const DiagnosticEngine &diags) {
  const llvm::StringMap<tgpu::CostOp> costs = findCosts(module);
  std::map<std::string, KernelSummary> summaries;
  module.walk([&](tgpu::KernelOp kernel) {
    KernelSummary summary;
    summary.subject = subjects.of(kernel);
    summary.range = sourceRange(kernel.getLoc(), diags);
    summary.entry = kernel.getSymName().str();
    summary.target = getTarget(kernel);
    kernel.walk([&](Operation *op) {
      std::string product = productOf(op, *summary.target);
      if (!product.empty() && !llvm::is_contained(summary.products, product)) {
        summary.products.push_back(std::move(product));
      }
    });
    summary.threads = kernel.getLaunchedThreads();
    summary.sharedBytes = int64_t(kernel.getSharedBytes().value_or(0));
    summary.isPersistent = kernel.getPersistent().has_value();
    if (auto cost = costs.find(kernel.getSymName()); cost != costs.end()) {
      llvm::append_range(summary.costs,
                         shownCosts(cost->second, machineModel(*summary.target).multiprocessors));
    }
    summaries.emplace(summary.entry, std::move(summary));
  });
  return summaries;
}

namespace {
/// Blocks that a multiprocessor holds at a time.
struct Occupancy {
  int64_t blocks = 0;
  llvm::SmallVector<llvm::StringRef, 4> limits;
};
} // namespace

/// What the model says the occupancy is; nothing if it has said nothing.
static std::optional<int64_t> modelled(const KernelSummary &summary) {
  return summary.costs.empty() ? std::nullopt
                               : std::optional(int64_t(summary.costs.front().terms.resident));
}

/// From the registers that ptxas gave. Without them from the model, which guesses these; the rest is known.
static Occupancy occupancyOf(const KernelSummary &summary, const FunctionResources *used) {
  const int64_t shared = summary.sharedBytes + int64_t(used ? used->staticSharedBytes : 0);
  const int64_t registers = used ? used->registers : 0;
  const Target &target = *summary.target;
  Occupancy result{residentBlocks(target, registers, summary.threads, shared),
                   limitsOfResidency(target, registers, summary.threads, shared)};
  std::optional<int64_t> expected = modelled(summary);
  if (!used && expected && *expected < result.blocks) {
    result = {*expected, {"registers"}};
  }
  return result;
}

static int64_t shareOfThreads(const KernelSummary &summary, int64_t blocks) {
  return blocks * summary.threads * 100 / threadsPerSM(*summary.target);
}

static std::string counted(int64_t number, llvm::StringRef one) {
  return (llvm::Twine(number) + " " + one + (number == 1 ? "" : "s")).str();
}

static std::string describeCosts(llvm::ArrayRef<ShownCost> costs) {
  std::string text;
  for (const ShownCost &cost : costs) {
    const bool isFirst = text.empty();
    text += isFirst ? "; expected: " : ", ";
    text += llvm::formatv("{0:f2} us (", cost.terms.total * 1e6);
    if (cost.size) {
      text += (isFirst ? "all dimensions " : "") + std::to_string(*cost.size) + ", ";
    }
    text += "bound by " + cost.terms.decided.str() + ")";
  }
  if (!costs.empty() && costs.front().terms.isAssumed) {
    text += ", lengths of loops guessed";
  }
  return text;
}

static std::string describe(const KernelSummary &summary, const FunctionResources *used) {
  const Occupancy occupancy = occupancyOf(summary, used);
  const int64_t warps = summary.threads / 32;
  std::string text = "summary: ";
  text += summary.products.empty() ? "no matrix product" : llvm::join(summary.products, " and ");
  text += "; " + counted(warps, "warp") + ", ";
  if (used) {
    text += counted(used->registers, "register") + ", " +
            std::to_string(used->spillStoreBytes + used->spillLoadBytes) + " bytes of spills, ";
  }
  text += std::to_string(summary.sharedBytes + int64_t(used ? used->staticSharedBytes : 0)) +
          " bytes of shared memory; " + counted(occupancy.blocks, "block") +
          " on a multiprocessor (" + std::to_string(shareOfThreads(summary, occupancy.blocks)) +
          " % of its threads), " + "limited by " + llvm::join(occupancy.limits, " and ");
  std::optional<int64_t> expected = modelled(summary);
  if (expected && *expected != occupancy.blocks) {
    text += ", priced as " + std::to_string(*expected);
  }
  return text + describeCosts(summary.costs);
}

/// Microseconds with as many digits as are shown.
static double microseconds(double seconds) { return std::round(seconds * 1e8) / 100; }

static llvm::json::Array costsOf(llvm::ArrayRef<ShownCost> costs) {
  llvm::json::Array list;
  for (const ShownCost &cost : costs) {
    llvm::json::Object terms;
    for (auto [name, seconds] : cost.terms.named()) {
      terms[name] = microseconds(seconds);
    }
    llvm::json::Object one{{"us", microseconds(cost.terms.total)},
                           {"bound_by", cost.terms.decided},
                           {"waves", int64_t(cost.terms.waves)},
                           {"terms_us", std::move(terms)},
                           {"loop_lengths_guessed", cost.terms.isAssumed}};
    if (cost.size) {
      one["dimensions"] = *cost.size;
    }
    list.push_back(std::move(one));
  }
  return list;
}

static llvm::json::Object factsOf(const KernelSummary &summary, const FunctionResources *used) {
  const Occupancy occupancy = occupancyOf(summary, used);
  llvm::json::Object blocks{
      {"blocks_per_sm", occupancy.blocks},
      {"threads_percent", shareOfThreads(summary, occupancy.blocks)},
      {"limited_by", llvm::json::Array(occupancy.limits)},
      {"estimated", !used}, // of registers that ptxas has not counted
  };
  if (std::optional<int64_t> expected = modelled(summary)) {
    blocks["priced_as"] = *expected;
  }
  llvm::json::Object facts{
      {"entry", summary.entry},
      {"products", llvm::json::Array(summary.products)},
      {"warps", summary.threads / 32},
      {"threads", summary.threads},
      {"shared_bytes", summary.sharedBytes + int64_t(used ? used->staticSharedBytes : 0)},
      {"persistent", summary.isPersistent},
      {"occupancy", std::move(blocks)},
      {"expected", costsOf(summary.costs)},
  };
  if (used) {
    facts["registers"] = used->registers;
    facts["spill_bytes"] = int64_t(used->spillStoreBytes + used->spillLoadBytes);
  }
  return facts;
}

void reportSummary(const KernelSummary &summary, const FunctionResources *used,
                   DiagnosticEngine &diags) {
  diags.remark(summary.subject, summary.range, describe(summary, used), factsOf(summary, used));
}

} // namespace tilec
