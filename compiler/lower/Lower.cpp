#include "compiler/lower/Lower.h"

#include "compiler/lower/Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::lower;

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

/// Drops the results of `scf.if` that nothing reads, such as the flags of returns that end their
/// function anyway, makes choices between plain values `arith.select`, and deletes scalar code that
/// is not used. (Of the tile dialect everything stays: a dimension is part of the interface. So do
/// loops: their steps and what is in them may be errors of the program.)
static void simplifyChoices(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  scf::IfOp::getCanonicalizationPatterns(patterns, context);
  SmallVector<Operation *> choices;
  module.walk([&](scf::IfOp op) {
    if (op.getNumResults() != 0) {
      choices.push_back(op);
    }
  });
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  (void)applyOpPatternsGreedily(choices, std::move(patterns), config);
  module->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (!isa<tile::TileDialect>(op->getDialect()) && !isa<LoopLikeOpInterface>(op) &&
        isOpTriviallyDead(op)) {
      op->erase();
    }
  });
}

OwningOpRef<ModuleOp> tilec::lowerToTile(const sema::Program &program, MLIRContext &context,
                                         DiagnosticEngine &diagnostics) {
  context.loadDialect<arith::ArithDialect, math::MathDialect, scf::SCFDialect, tile::TileDialect,
                      vector::VectorDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  unsigned errorsBefore = diagnostics.numErrors();
  for (const auto &kernel : program.kernels) {
    Lowering(*module, diagnostics).lowerKernel(*kernel);
  }
  if (diagnostics.numErrors() != errorsBefore) {
    return {};
  }
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &error) {
    llvm::SMLoc loc;
    if (auto file = error.getLocation()->findInstanceOf<FileLineColLoc>()) {
      loc = diagnostics.locate(file.getFilename(), file.getLine(), file.getColumn());
    }
    if (error.getSeverity() == DiagnosticSeverity::Error) {
      diagnostics.report(diag::Id::InternalError, loc, error.str());
    }
    return success();
  });
  if (failed(mlir::verify(*module))) {
    return {};
  }
  simplifyChoices(*module);
  return module;
}

//===----------------------------------------------------------------------===//
// Locations and diagnostics
//===----------------------------------------------------------------------===//

Location Lowering::location(sema::SourceRange range) {
  Location loc = UnknownLoc::get(b.getContext());
  if (range.Start.isValid()) {
    const llvm::SourceMgr &sources = diagnostics.getSources();
    if (unsigned id = sources.FindBufferContainingLoc(range.Start)) {
      auto [line, column] = sources.getLineAndColumn(range.Start, id);
      StringRef name = sources.getMemoryBuffer(id)->getBufferIdentifier();
      loc = FileLineColLoc::get(b.getContext(), name, line, column);
    }
  }
  return callSite ? Location(CallSiteLoc::get(loc, *callSite)) : loc;
}

void Lowering::unsupported(sema::SourceRange range, const Twine &what) {
  diagnostics.report(diag::Id::NotSupported, range, what);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type Lowering::elementType(sema::Scalar scalar) {
  using sema::Scalar;
  switch (scalar) {
  case Scalar::F64:
    return b.getF64Type();
  case Scalar::F32:
    return b.getF32Type();
  case Scalar::F16:
    return b.getF16Type();
  case Scalar::BF16:
    return b.getBF16Type();
  case Scalar::E4M3:
    return Float8E4M3FNType::get(b.getContext());
  case Scalar::E5M2:
    return Float8E5M2Type::get(b.getContext());
  case Scalar::E2M1:
    return Float4E2M1FNType::get(b.getContext());
  case Scalar::E8M0:
    return Float8E8M0FNUType::get(b.getContext());
  case Scalar::Bool:
    return b.getI1Type();
  default:
    return b.getIntegerType(sema::scalarBits(scalar));
  }
}

Type Lowering::valueType(const sema::Type &type) {
  Type element = elementType(type.elem);
  if (!type.shape.empty()) {
    SmallVector<int64_t> shape(type.shape.begin(), type.shape.end());
    llvm::erase(shape, sema::kOpen); // nothing is repeated along these before it has to be
    return RankedTensorType::get(shape, element);
  }
  return type.vecLength ? VectorType::get(type.vecLength, element) : element;
}

/// Extents, with the length of a `vec` as the last one.
static SmallVector<int64_t> storageShape(const sema::Type &type) {
  SmallVector<int64_t> shape(type.shape.begin(), type.shape.end());
  if (type.vecLength) {
    shape.push_back(type.vecLength);
  }
  return shape;
}

tile::GlobalType Lowering::globalType(const sema::Type &type) {
  static_assert(sema::kDynamic == ShapedType::kDynamic);
  return tile::GlobalType::get(b.getContext(), type.shape, elementType(type.elem));
}

tile::BufferType Lowering::bufferType(const sema::Type &type, tile::Scope scope) {
  return tile::BufferType::get(b.getContext(), storageShape(type), elementType(type.elem), scope);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

TypedAttr Lowering::constantAttr(const sema::ConstantExpr &expr) {
  Type type = elementType(expr.type.elem);
  if (auto integer = dyn_cast<IntegerType>(type)) {
    APInt bits(64, expr.intValue, /*isSigned=*/true);
    return IntegerAttr::get(integer, bits.trunc(integer.getWidth()));
  }
  return FloatAttr::get(type, expr.floatValue);
}

Value Lowering::constant(const sema::ConstantExpr &expr) {
  Value scalar = arith::ConstantOp::create(b, constantAttr(expr));
  return splat(scalar, valueType(expr.type));
}

Value Lowering::intConstant(Type type, int64_t value) {
  return arith::ConstantOp::create(b, IntegerAttr::get(type, value));
}

Value Lowering::boolConstant(bool value) {
  return arith::ConstantOp::create(b, BoolAttr::get(b.getContext(), value));
}

Value Lowering::constantLike(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  Value scalar = isa<FloatType>(element)
                     ? arith::ConstantOp::create(b, FloatAttr::get(element, value)).getResult()
                     : intConstant(element, (int64_t)value);
  return splat(scalar, type);
}

Value Lowering::placeholder(Type type) {
  if (auto view = dyn_cast<tile::GlobalType>(type)) {
    return UnrealizedConversionCastOp::create(b, view, ValueRange()).getResult(0);
  }
  if (auto buffer = dyn_cast<tile::BufferType>(type)) {
    return tile::AllocOp::create(b, buffer, StringAttr(), StringAttr());
  }
  return constantLike(type, isa<Float8E8M0FNUType>(getElementTypeOrSelf(type)) ? 1.0 : 0.0);
}

Value Lowering::splat(Value scalar, Type type) {
  return scalar.getType() == type ? scalar : tile::SplatOp::create(b, type, scalar).getResult();
}
