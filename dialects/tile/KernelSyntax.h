//===- KernelSyntax.h - how kernels of both dialects are written *- C++ -*-===//
#pragma once

#include "mlir/Interfaces/FunctionImplementation.h"

namespace tilec::tile {

/// As functions are: name, arguments with attributes, a body.
template <typename KernelT>
mlir::ParseResult parseKernel(mlir::OpAsmParser &parser, mlir::OperationState &result) {
  auto buildType = [](mlir::Builder &builder, mlir::ArrayRef<mlir::Type> args,
                      mlir::ArrayRef<mlir::Type> results,
                      mlir::function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(args, results); };
  return mlir::function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, KernelT::getFunctionTypeAttrName(result.name),
      buildType, KernelT::getArgAttrsAttrName(result.name),
      KernelT::getResAttrsAttrName(result.name));
}

template <typename KernelT>
void printKernel(KernelT kernel, mlir::OpAsmPrinter &printer) {
  mlir::function_interface_impl::printFunctionOp(
      printer, kernel, /*isVariadic=*/false, kernel.getFunctionTypeAttrName(),
      kernel.getArgAttrsAttrName(), kernel.getResAttrsAttrName());
}

} // namespace tilec::tile
