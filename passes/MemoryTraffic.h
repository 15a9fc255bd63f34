//===- MemoryTraffic.h - bytes that a launch touches ------------*- C++ -*-===//
#ifndef TILEC_PASSES_MEMORYTRAFFIC_H
#define TILEC_PASSES_MEMORYTRAFFIC_H

#include "passes/DeviceEstimates.h"

namespace tilec {

/// Bytes of tensors that a launch reads and writes, each byte once.
struct MemoryTraffic {
  Amount read, written;
  /// Of `read` what copies take in pieces of less than 256 bytes whose neighbours other blocks take: all of it in pieces of up to
  /// 128, less of longer ones.
  Amount narrow = 0.0;
  /// Of `written` what lies in rows that begin between sectors of 32 bytes, where tiles take less than a row.
  Amount unaligned = 0.0;
  /// Of `written` what threads store since its tiles' rows are no whole lines of 128 bytes: such rows in pieces of 64 bytes.
  Amount pieces = 0.0;
  /// Of `written` what tiles that take less than a row write.
  Amount parted = 0.0;
};

/// A dimension is touched as far as blocks and loops move through it: all of it where the index depends on them. Where
/// memory says which part, it is no more than all accesses together.
MemoryTraffic trafficOf(tgpu::KernelOp kernel, Amount points, DeviceEstimates &estimates,
                        const IntegerAnalysis &integers, HostMath &math);

} // namespace tilec

#endif // TILEC_PASSES_MEMORYTRAFFIC_H
