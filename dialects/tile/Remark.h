//===- Remark.h - remarks about a kernel ------------------------*- C++ -*-===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

namespace tilec::tile {

/// A remark about the kernel (of the tile or the tgpu dialect) that has this symbol, from code that works on more than one
/// of them: the symbol goes with it, unprinted. What a pass over one kernel remarks is about that one.
inline mlir::InFlightDiagnostic remarkOn(llvm::StringRef kernel, mlir::Location location) {
  mlir::InFlightDiagnostic remark = mlir::emitRemark(location);
  // A copy of the text that lives as long as the remark.
  mlir::Attribute name = mlir::StringAttr::get(location.getContext(), kernel);
  remark.getUnderlyingDiagnostic()->getMetadata().emplace_back(name);
  return remark;
}

/// The symbol that remarkOn() left; empty if it was not used.
inline llvm::StringRef remarkedKernel(mlir::Diagnostic &diagnostic) {
  for (mlir::DiagnosticArgument &argument : diagnostic.getMetadata()) {
    if (argument.getKind() == mlir::DiagnosticArgument::DiagnosticArgumentKind::Attribute) {
      if (auto name = llvm::dyn_cast<mlir::StringAttr>(argument.getAsAttribute())) {
        return name.getValue();
      }
    }
  }
  return {};
}

} // namespace tilec::tile
