//===- CostModel.cpp - what a launch is expected to take -----------------===//
#include "passes/CostModel.h"

#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Analysis.h"
#include "passes/BlockFootprint.h"
#include "passes/RoleRegisters.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {
enum Kind : unsigned {
  Leaf,
  Constant,
  Copy,
  Truncate,
  Add,
  Sub,
  Mul,
  Div,
  DivDown,
  DivUp,
  DivZero,
  RemDown,
  RemZero,
  Min,
  Max,
  Ceil,
  Floor,
  Log2,
  Select,
  Equal,
  Unequal,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  And,
  Or,
};
} // namespace

static std::optional<Kind> kindOfCompare(StringRef predicate) {
  return llvm::StringSwitch<std::optional<Kind>>(predicate)
      .Cases({"eq", "oeq", "ueq"}, Equal)
      .Cases({"ne", "one", "une"}, Unequal)
      .Cases({"slt", "ult", "olt"}, Less)
      .Cases({"sle", "ule", "ole"}, LessEqual)
      .Cases({"sgt", "ugt", "ogt"}, Greater)
      .Cases({"sge", "uge", "oge"}, GreaterEqual)
      .Default(std::nullopt);
}

/// Nothing for what is a leaf.
static std::optional<Kind> kindOf(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    return kindOfCompare(arith::stringifyCmpIPredicate(compare.getPredicate()));
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    return kindOfCompare(arith::stringifyCmpFPredicate(compare.getPredicate()));
  }
  if (auto division = dyn_cast<tile::DivOp>(op)) {
    static constexpr Kind kinds[] = {DivZero, DivUp, DivDown};
    return kinds[unsigned(division.getRounding())];
  }
  if (auto rest = dyn_cast<tile::RemOp>(op)) {
    return rest.getRounding() == tile::Rounding::Zero ? RemZero : RemDown;
  }
  const bool isBool = op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1);
  if (isBool && isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
    return isa<arith::AndIOp>(op) ? And : isa<arith::OrIOp>(op) ? Or : Unequal;
  }
  if (op->getNumResults() != 1) {
    return std::nullopt;
  }
  return llvm::StringSwitch<std::optional<Kind>>(op->getName().getStringRef())
      .Cases({"arith.addi", "arith.addf"}, Add)
      .Cases({"arith.subi", "arith.subf"}, Sub)
      .Cases({"arith.muli", "arith.mulf"}, Mul)
      .Case("arith.divf", Div)
      .Cases({"arith.divsi", "arith.divui"}, DivZero)
      .Case("arith.floordivsi", DivDown)
      .Cases({"arith.ceildivsi", "arith.ceildivui"}, DivUp)
      .Cases({"arith.remsi", "arith.remui"}, RemZero)
      .Cases({"arith.minsi", "arith.minui", "arith.minnumf", "arith.minimumf"}, Min)
      .Cases({"arith.maxsi", "arith.maxui", "arith.maxnumf", "arith.maximumf"}, Max)
      .Case("math.ceil", Ceil)
      .Case("math.floor", Floor)
      .Case("math.log2", Log2)
      .Case("arith.select", Select)
      .Cases({"arith.sitofp", "arith.uitofp", "arith.extf", "arith.truncf", "arith.extsi"}, Copy)
      .Cases({"arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui"}, Copy)
      .Cases({"arith.fptosi", "arith.fptoui"}, Truncate)
      .Default(std::nullopt);
}

HostEvaluator::HostEvaluator(ArrayRef<Value> wanted) {
  for (Value value : wanted) {
    results.push_back(add(value));
  }
  values.resize(steps.size());
}

unsigned HostEvaluator::add(Value value) {
  if (auto known = numbers.find(value); known != numbers.end()) {
    return known->second;
  }
  Step step{Leaf, {0, 0, 0}};
  double constant = 0;
  Operation *op = value.getDefiningOp();
  std::optional<Kind> kind = op ? kindOf(op) : std::nullopt;
  Attribute literal;
  if (op && matchPattern(op, m_Constant(&literal))) {
    step.kind = Constant;
    if (auto integer = dyn_cast<IntegerAttr>(literal)) {
      const bool isBool = integer.getType().isInteger(1);
      constant = double(isBool ? int64_t(integer.getValue().getZExtValue())
                               : integer.getValue().getSExtValue());
    } else if (auto real = dyn_cast<FloatAttr>(literal)) {
      constant = real.getValueAsDouble();
    }
  } else if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    const unsigned index = cast<OpResult>(value).getResultNumber();
    step = {Select,
            {add(branch.getCondition()), add(branch.thenYield().getOperand(index)),
             add(branch.elseYield().getOperand(index))}};
  } else if (kind) {
    step.kind = *kind;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      step.inputs[i] = add(operand);
    }
  } else {
    step.inputs[0] = unsigned(leafValues.size());
    leafValues.push_back(value);
  }
  steps.push_back(step);
  constants.push_back(constant);
  return numbers[value] = unsigned(steps.size() - 1);
}

/// Division by zero is a matter of the checks of a call; here it gives 0.
static double quotient(double x, double y) { return y == 0 ? 0 : x / y; }

static double compute(Kind kind, double x, double y) {
  switch (kind) {
  case Copy:
    return x;
  case Truncate:
    return std::trunc(x);
  case Add:
    return x + y;
  case Sub:
    return x - y;
  case Mul:
    return x * y;
  case Div:
    return quotient(x, y);
  case DivDown:
    return std::floor(quotient(x, y));
  case DivUp:
    return std::ceil(quotient(x, y));
  case DivZero:
    return std::trunc(quotient(x, y));
  case RemDown:
    return x - y * std::floor(quotient(x, y));
  case RemZero:
    return y == 0 ? 0 : std::fmod(x, y);
  case Min:
    return std::fmin(x, y);
  case Max:
    return std::fmax(x, y);
  case Ceil:
    return std::ceil(x);
  case Floor:
    return std::floor(x);
  case Log2:
    return std::log2(x);
  default:
    return 0;
  }
}

static bool holds(Kind kind, double x, double y) {
  switch (kind) {
  case Equal:
    return x == y;
  case Unequal:
    return x != y;
  case Less:
    return x < y;
  case LessEqual:
    return x <= y;
  case Greater:
    return x > y;
  case GreaterEqual:
    return x >= y;
  case And:
    return x != 0 && y != 0;
  default:
    return x != 0 || y != 0;
  }
}

void HostEvaluator::evaluate(ArrayRef<double> ofLeaves, MutableArrayRef<double> wanted) const {
  for (size_t i = 0; i != steps.size(); ++i) {
    const Step &step = steps[i];
    const Kind kind = Kind(step.kind);
    auto in = [&](unsigned which) { return values[step.inputs[which]]; };
    if (kind == Leaf) {
      values[i] = ofLeaves[step.inputs[0]];
    } else if (kind == Constant) {
      values[i] = constants[i];
    } else if (kind == Select) {
      values[i] = in(0) != 0 ? in(1) : in(2);
    } else {
      values[i] = kind >= Equal ? double(holds(kind, in(0), in(1))) : compute(kind, in(0), in(1));
    }
  }
  for (auto [result, number] : llvm::zip_equal(wanted, results)) {
    result = values[number];
  }
}

double HostEvaluator::evaluate(ArrayRef<double> ofLeaves) const {
  SmallVector<double, 16> all(results.size());
  evaluate(ofLeaves, all);
  return all.front();
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// What the declaration says that an extent is: a constant, or the value that a `tile.check` compares it with.
static Value declaredExtent(tile::KernelOp kernel, Value tensor, int64_t axis) {
  auto isSame = [&](Value value) {
    auto other = value.getDefiningOp<tile::ExtentOp>();
    return other && other.getSource() == tensor && int64_t(other.getAxis()) == axis;
  };
  for (auto check : kernel.getBody().front().getOps<tile::CheckOp>()) {
    auto compare = check.getCondition().getDefiningOp<arith::CmpIOp>();
    if (compare && compare.getPredicate() == arith::CmpIPredicate::eq) {
      if (isSame(compare.getLhs()) && !isSame(compare.getRhs())) {
        return compare.getRhs();
      }
      if (isSame(compare.getRhs()) && !isSame(compare.getLhs())) {
        return compare.getLhs();
      }
    }
  }
  return nullptr;
}

/// An extent that `leaf` is or depends on.
static std::optional<double> extentOf(TypedValue<tile::GlobalType> tensor, int64_t axis, Value leaf,
                                      const llvm::StringMap<double> &names,
                                      double multiprocessors) {
  const int64_t known = tensor.getType().getShape()[axis];
  if (!ShapedType::isDynamic(known)) {
    return double(known);
  }
  auto kernel = leaf.getDefiningOp()->getParentOfType<tile::KernelOp>();
  for (auto dim : kernel.getBody().front().getOps<tile::DimOp>()) {
    if (dim.getTensor() == tensor && int64_t(dim.getAxis()) == axis) {
      auto value = names.find(dim.getName());
      return value == names.end() ? std::nullopt
                                  : std::optional(value->second + double(dim.getOffset()));
    }
  }
  Value declared = declaredExtent(kernel, tensor, axis);
  if (!declared) {
    return std::nullopt;
  }
  HostEvaluator evaluator(declared);
  SmallVector<double> leaves;
  for (Value inner : evaluator.leaves()) {
    std::optional<double> value =
        inner == leaf ? std::nullopt : valueOfLeaf(inner, names, multiprocessors);
    if (!value) {
      return std::nullopt;
    }
    leaves.push_back(*value);
  }
  return evaluator.evaluate(leaves);
}

std::optional<double> tilec::valueOfLeaf(Value leaf, const llvm::StringMap<double> &names,
                                         double multiprocessors) {
  auto named = [&](StringRef name) -> std::optional<double> {
    auto found = names.find(name);
    return found == names.end() ? std::nullopt : std::optional(found->second);
  };
  if (auto argument = dyn_cast<BlockArgument>(leaf)) {
    auto kernel = dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp());
    return kernel ? named(kernel.getArgumentName(argument.getArgNumber())) : std::nullopt;
  }
  Operation *op = leaf.getDefiningOp();
  if (auto dim = dyn_cast<tile::DimOp>(op)) {
    return named(dim.getName());
  }
  if (isa<tile::SmCountOp>(op)) {
    return multiprocessors;
  }
  if (isa<tile::PresentOp>(op)) {
    return 1;
  }
  if (auto stride = dyn_cast<tile::StrideOp>(op)) { // rows without gaps
    double product = 1;
    for (int64_t axis = stride.getAxis() + 1; axis < stride.getSource().getType().getRank();
         ++axis) {
      std::optional<double> extent =
          extentOf(stride.getSource(), axis, leaf, names, multiprocessors);
      if (!extent) {
        return std::nullopt;
      }
      product *= *extent;
    }
    return product;
  }
  if (auto extent = dyn_cast<tile::ExtentOp>(op)) {
    return extentOf(extent.getSource(), extent.getAxis(), leaf, names, multiprocessors);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

CostTerms tilec::termsOf(tgpu::CostOp cost, ArrayRef<double> results) {
  CostTerms terms;
  terms.total = results.front();
  double isAssumed = 0;
  std::pair<StringRef, double *> known[] = {
      {"assumed", &isAssumed},           {"launch", &terms.launch},
      {"waves", &terms.waves},           {"resident", &terms.resident},
      {"memory", &terms.dram},           {"latency", &terms.latency},
      {"tensor cores", &terms.tensor},   {"loads", &terms.load},
      {"stores", &terms.store},          {"shared memory", &terms.shared},
      {"instructions", &terms.issue},    {"special functions", &terms.special},
      {"memory accesses", &terms.access}};
  double most = -1;
  for (auto [name, value] :
       llvm::zip(cost.getTerms().getAsRange<StringAttr>(), results.drop_front())) {
    for (auto [i, entry] : llvm::enumerate(known)) {
      if (entry.first == name.getValue()) {
        *entry.second = value;
        constexpr size_t kNotTimes = 4; // the first ones are the same whatever decides
        // A block alone takes no less than what it does: latency decides where it is well above that.
        const double weight = entry.second == &terms.latency ? value / 1.15 : value;
        if (i >= kNotTimes && weight > most) {
          most = weight;
          terms.decided = entry.first;
        }
      }
    }
  }
  terms.isAssumed = isAssumed != 0;
  return terms;
}

SmallVector<std::pair<StringRef, double>, 11> CostTerms::named() const {
  SmallVector<std::pair<StringRef, double>, 11> all = {
      {"launch", launch},         {"memory", dram},        {"latency", latency},
      {"tensor cores", tensor},   {"loads", load},         {"stores", store},
      {"shared memory", shared},  {"instructions", issue}, {"special functions", special},
      {"memory accesses", access}};
  llvm::erase_if(all, [](const auto &term) { return term.second <= 0.5e-8; });
  return all;
}

std::string CostTerms::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.2f", total * 1e6) << " us, bound by " << decided << " ("
     << llvm::format("%.0f", waves) << (waves == 1 ? " wave" : " waves") << " of "
     << llvm::format("%.0f", resident) << " a multiprocessor";
  for (auto [name, seconds] : named()) {
    os << ", " << name << ' ' << llvm::format("%.2f", seconds * 1e6);
  }
  os << ')';
  return text;
}

SmallVector<ShownCost, 3> tilec::shownCosts(tgpu::CostOp cost, double multiprocessors) {
  static constexpr double sizes[] = {512, 2048, 8192};
  SmallVector<Value> wanted(cost.getResultsOfBody());
  HostEvaluator evaluator(wanted);
  const llvm::StringMap<double> none;
  SmallVector<ShownCost, 3> costs;
  for (double size : sizes) {
    SmallVector<double> leaves;
    bool isFree = false;
    for (Value leaf : evaluator.leaves()) {
      std::optional<double> known = valueOfLeaf(leaf, none, multiprocessors);
      isFree |= !known;
      leaves.push_back(known.value_or(size));
    }
    SmallVector<double> results(wanted.size());
    evaluator.evaluate(leaves, results);
    costs.push_back({isFree ? std::optional(int64_t(size)) : std::nullopt, termsOf(cost, results)});
    if (!isFree) {
      break;
    }
  }
  return costs;
}

llvm::StringMap<tgpu::CostOp> tilec::findCosts(ModuleOp module) {
  llvm::StringMap<tgpu::CostOp> costs;
  module.walk([&](tgpu::CostOp cost) { costs[cost.getEntry()] = cost; });
  return costs;
}

/// Registers for the addresses of tiles that threads themselves copy, beside products.
static int64_t registersOfAddresses(tgpu::KernelOp kernel, const Target &target) {
  constexpr int64_t kAddresses = 40; // attention of 192 x 64 by words spills 28 bytes with 24
  bool multiplies = false, copies = false;
  kernel.walk([&](Operation *op) {
    auto copy = dyn_cast<tgpu::CopyOp>(op);
    multiplies |= isa<tgpu::DotOp>(op);
    copies |= copy && isa<tgpu::SmemType>(copy.getDest().getType()) &&
              copy.getPath() != tgpu::CopyPath::Tma;
  });
  return multiplies && copies && target.hasTma ? kAddresses
                                               : 0; // else what is estimated knows of them
}

std::optional<std::string> tilec::refusalOf(tgpu::KernelOp kernel) {
  const Target *target = findTarget(kernel.getTarget().value_or(""));
  if (!target) {
    return std::nullopt;
  }
  int64_t most = mostRegisters(kernel, *target);
  most = std::min<int64_t>(most, kernel.getMaxRegisters().value_or(most));
  const int64_t wanted = estimateRegisters(kernel) + registersOfAddresses(kernel, *target);
  const int64_t shared = leastShared(kernel);
  if (shared > target->sharedPerBlock) {
    return "it needs about " + std::to_string(shared) + " bytes of shared memory, a block has " +
           std::to_string(target->sharedPerBlock);
  }
  if (wanted <= most) {
    return std::nullopt;
  }
  return "it needs about " + std::to_string(wanted) + " registers, a thread has " +
         std::to_string(most);
}
