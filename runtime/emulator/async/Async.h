// The decoders of barriers, fences and asynchronous copies, by file.
#pragma once

#include "../check/Clocks.h"
#include "../exec/Decoder.h"

namespace tile_emu {

/// A block has ended before the copy that `issuer` has started with `cause`.
void reportUnfinished(Step &step, ThreadId issuer, const ptx::Instruction &cause);
/// When a warp has ended: reports a setmaxnreg that not all of its warpgroup have executed.
void checkRegistersAtExit(Step &step);

class Step;

Execute decodeBarrier(Decoder &d);        // NamedBarriers.cpp: bar, barrier
Execute decodeClusterBarrier(Decoder &d); // ClusterBarrier.cpp: after `barrier.cluster`
Execute decodeMBarrier(Decoder &d);       // MBarriers.cpp
Execute decodeFence(Decoder &d);          // Fences.cpp: fence
Execute decodeMembar(Decoder &d);
Execute decodeCopy(Decoder &d);            // Families.cpp: cp
Execute decodeCpAsync(Decoder &d);         // CpAsync.cpp: after `cp.async`
Execute decodeBulk(Decoder &d);            // Bulk.cpp: after `cp.async.bulk`
Execute decodeBulkReduce(Decoder &d);      // Bulk.cpp: after `cp.reduce.async.bulk`
Execute decodeTensorCopy(Decoder &d);      // TensorCopy.cpp: after `cp.async.bulk.tensor`
Execute decodeTensorPrefetch(Decoder &d);  // after `cp.async.bulk.prefetch.tensor`
Execute decodeTensorReduce(Decoder &d);    // after `cp.reduce.async.bulk.tensor`
Execute decodeSetMaxRegisters(Decoder &d); // Registers.cpp: setmaxnreg
Execute decodeGridControl(Decoder &d);     // Registers.cpp: griddepcontrol
/// StoreAsync.cpp. `st` and `red` have been read, `.async` is next.
Execute decodeStoreAsync(Decoder &d);
Execute decodeReduceAsync(Decoder &d);

/// Exit.cpp. To be called when a lane has executed `exit` or `ret`: reports copies that nobody has
/// waited for. True if there was any.
bool checkAsyncAtExit(Step &step, unsigned lane);

} // namespace tile_emu
