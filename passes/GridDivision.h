//===- GridDivision.h - indices of grid points without divisions -*- C++ -*-===//
#ifndef TILEC_PASSES_GRIDDIVISION_H
#define TILEC_PASSES_GRIDDIVISION_H

#include "dialects/tile/Tile.h"

namespace tilec {

/// Host values (i64) that the blocks of a launch multiply numbers of points by in place of dividing them: the `inverses` of its tgpu.grid_point.
/// Divisions one after the other are what a block begins each point with.
llvm::SmallVector<mlir::Value> inversesOfDivisors(tile::LaunchOp launch,
                                                  mlir::OpBuilder &hostBuilder);

} // namespace tilec

#endif // TILEC_PASSES_GRIDDIVISION_H
