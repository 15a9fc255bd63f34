//===- GridPoint.h - from numbers of grid points to indices ----*- C++ -*-===//
#ifndef TILEC_DIALECTS_TGPU_GRIDPOINT_H
#define TILEC_DIALECTS_TGPU_GRIDPOINT_H

#include "llvm/ADT/SmallVector.h"

namespace tilec::tgpu {

/// What the number of a grid point is divided by on the way to its indices (tgpu.grid_point).
struct PointDivisor {
  enum Kind {
    Plane,      ///< points of the first two extents
    Panel,      ///< points of a panel along the second index
    Height,     ///< of a panel, no more than the second extent
    LastHeight, ///< of the last panel
    Extent      ///< of dimension `dim`
  } kind;
  unsigned dim = 0;
};

/// Of `rank` extents, in the order in which they are needed.
llvm::SmallVector<PointDivisor> pointDivisors(unsigned rank, bool hasGroup);

} // namespace tilec::tgpu

#endif // TILEC_DIALECTS_TGPU_GRIDPOINT_H
