//===- MachineModel.cpp - rates and latencies of the targets -------------===//
#include "passes/MachineModel.h"

namespace tilec {

// H200. Measured on one unless said otherwise; docs/performance.md ("Costs") says what follows from them.
static constexpr MachineModel hopper = {
    .multiprocessors = 132,
    .launch = 3.3e-6, // an empty kernel of 132 blocks between two events
    .nextLaunch = 1.0e-6,
    .dealing = 2.0e-6,
    .dramStart = 0.5e-6, // reads of 134 MB to 2 GiB fit 3.8 us + bytes / 4.69 TB/s
    // softmax, 20000 to 1000000 blocks of 32 and 64 threads: 1.66 in a nanosecond, whatever is in them
    .nextBlock = 0.6e-9,
    // 1.79 GHz in products of 1024^3, 1.65 of 2048^3, 1.45 to 1.55 of 4096^3, 1.28 to 1.47 of 8192^3, two machines; 1.75 to 1.80
    // where up to 32 blocks run, however long (128x192, 128x256)
    .mostGHz = 1.80,
    .leastGHz = 1.25,
    .perDoubling = 0.0433,
    .plainGHz = 1.77, // what the other figures were fitted with
    .behindGHz = 1.7,
    .blockStart = 2700, // 4500 to the first product, with the first loads
    .plainStart = 600,  // softmax, norms and argmax of 4096 rows and fewer, 60 settings: 0 to 1000
    .warpStart = 50,    // gemm of small tiles, 4 warps beside 8
    .exposed = 0.08,    // tiles of products that memory bounds (tools/dev/gpu_choices.py)
    .exposedWaits =
        0.02, // gemv of 12 settings (tools/dev/gpu_candidates.py): says which of equals is faster, not by how much
    .lastWrites =
        0.5, // gemm of 16 to 160 terms, one to three rounds of tiles, 240 shapes (tools/dev/gpu_choices.py): 0.5 to 0.7
    // gemm of 8 to 64 rows: 18 tiles at eight matrices of weights, nn and nt (tools/dev/gpu_choices.py), with beyondBytes
    .flightShare = 0.4,
    .dramRead = 4.69e12,
    .dramWrite = 4.07e12, // copies fit bytes / 4.36 TB/s: as many bytes are read at 4.69
    .narrowPieces = 0.04, // the same tiles, 64 columns beside 128 and 256
    // gemm of K = 16 and 32 and 2048 x 4104 to 8192 x 8200 results: 0.5 to 0.8 of what writing takes, every other row
    .unalignedRows = 1.3,
    .piecesOfRows =
        0.3, // gemm, K = 16 to 160, 128x96 and 128x160 beside 128x128 and 128x192, eight shapes: 0.2 to 0.5
    .partsOfRows =
        0.15, // gemm, K = 16 to 64, results of 62 to 177 MB, tiles of 128 to 256 columns: 0.1 to 0.3
    .dirtyBytes = 45e6, // gemv after a flush, four sizes: 10.6 us behind a clean L2
    .tmaBytes = 71,     // 24 tiles of gemm at 4096^3 (tools/dev/gpu_choices.py)
    // gemm of one round of tiles and 1000 to 16000 terms, 270 and 245 shapes of two orders, clocks for a row of up to 128 bytes where up to 16
    // blocks run: 1.4 in whole lines, 1.8 between lines, 2.1 to 2.5 between sectors
    .tmaBytesAlone = 107,
    // gemm, f16, 4048 x 4008 x 4584 and 4048 x 4048 x 4624: 3.9 and 2.75 clocks for a row of 128 bytes that is 1.8 in whole lines
    .acrossLines = 0.5,
    .acrossSectors = 0.6,
    // gemm of 8 to 64 x 4096 x 14336 and x 28672 x 8192, tiles of 64 x 32 and 64 x 64: 5 to 8 clocks for a row of 128 bytes
    .beyondBytes = 17,
    // gemm of 16 to 40 columns (nn), tiles of 96 to 256: 16 to 28 bytes a clock where 91 blocks and more run, 0.7 of a line's time where one to eight do
    .beyondColumns = 24,
    .beyondColumnsAlone = 155,
    // gemm by clusters of two beside blocks alone, four tiles at 271 shapes, where 20 to 80 steps of 64 are summed: 64x128 0.76 and 128x192 0.87 of
    // the time between lines (0.83 and 0.85 so), 1.10 and 1.01 in whole lines (1.12 and 1.01)
    .multicast = 1.3,
    .clusterStart = 1000, // the same products of few steps
    .clusterRound =
        200, // 128x192 by clusters beside blocks alone, K = 16 to 64, 11 and 28 rounds: 200 to 340
    .loadBytes = 64, // CUDA C programming guide: a line of 128 bytes in two clocks
    .storeBytes = 64,
    .sharedBytes = 128, // 32 banks of 4 bytes
    // 137 tiles of gemm at 70 shapes, and 24 at 190 others: with 128 and 142 choices are the best ones, with 160 they are not; of
    // 128x128x64 at 4096 x 28672 x 4096 142 says 13 % too much
    .operandBytes = 142,
    .issue = 4,         // schedulers (CUDA C programming guide, compute capability 9.0)
    .lanesSpecial = 16, // CUDA C programming guide, throughput of arithmetic instructions
    .elementCopies =
        4.5, // gemm of 4097 x 4095 x 4093, 24 tiles: 4 to 5 where blocks share a multiprocessor
    .asyncWords =
        5.5, // gemm of rows at multiples of 4 bytes, 46 shapes: 4.8 for large products, 5.5 where blocks are few
    .accesses = 1,
    .alone = 2,
    .wgmmaFlop = 4096, // 64 x 256 x 16 in 128 clocks
    .mmaFlop = 2540,   // mma.sync, 0.62 of it
    .lanesF32 = 128,   // CUDA C programming guide, throughput of arithmetic instructions
    .f64Flop = 256,    // NVIDIA H100 white paper: 67 TFLOP/s at 1.98 GHz
    .fmaSlots = 1.2,   // f32 products of 2048^3, 8 x 8 and 16 x 8 for each thread: 46 TFLOP/s
    .iteration = 180,  // gemm of small tiles, BK = 64 beside 128
    .shortRing =
        50, // gemm, 256x192x64 at 8192^3, 4096 x 28672 x 8192, two orders: 2 to 5 % more than 128x192 by teams
    // attention, 7 tiles of 128 and 192 queries by 64 to 160 keys at 2048 keys (tools/dev/gpu_candidates.py): 610 to 670, and 910
    // of 192 x 128, at 1.7 GHz, as at 8192 and 16384 keys
    .behindProduct = 650,
    .inOrderProduct = 900,
    // gemm of up to 40 tiles, 350 shapes of two orders, each beside 24 tiles: up to 300 terms
    .soonerStart = 1300,
    // the same, rows that start anywhere, up to 66 tiles of up to 64 terms, 125 cases: 0.5 to 0.8 us
    .soonerElements = 800,
    // 64x64x64 by four slots, 2000 to 16000 terms, 90 shapes: 450 clocks a step where nothing else reads, 500 at 0.4 TB/s, 560 at 0.8, 620 at
    // 1.2, 780 at 2.2
    .queueing = 1.4,
    .storeOfSum = 7, // the same of few terms: 8 to 192 sums a thread
    // gemm of one tile of up to 100 terms: stored by threads (16x64, 32x64) 0.3 us more, beside 64x16 and 64x32 by TMA, than without both
    .storeByTma = 150,
    .exchange = 200,
    // gemm, tiles whose ring bounds the rate, 2 x 130 shapes: 1950 clocks for a slot of 64x64x64, of which 460 for its bytes, 300 for its product
    .missLatency = 1150,
    // gemm of rows that start anywhere, 100 shapes of two orders: 700 where few blocks run, more than 1150 where all load their first ones
    .elementLatency = 750,
    .globalLatency = 700, // memory and L2 mixed
    .sharedLatency = 30,
    .specialLatency = 40,
    .mmaLatency = 60,
    .shuffleLatency = 25,
    .barrier = 40,
    .atomic = 700,
};

// A100: the figures of NVIDIA's white paper and of the CUDA C programming guide for compute capability 8.0; latencies as of
// the H200.
static constexpr MachineModel ampere = {
    .multiprocessors = 108,
    .launch = 3.5e-6,
    .nextLaunch = 1.2e-6,
    .dealing = 2.0e-6,
    .dramStart = 0.6e-6,
    .nextBlock = 0.75e-9, // as many in a clock as on the H200
    .mostGHz = 1.41,      // boost
    .leastGHz = 1.2,
    .perDoubling = 0.015,
    .plainGHz = 1.41,
    .behindGHz = 1.41,
    .blockStart = 2700,
    .plainStart = 600,
    .warpStart = 50,
    .exposed = 0.08,
    .exposedWaits = 0.02,
    .lastWrites = 0.5,
    .flightShare = 0.4,
    .dramRead = 1.75e12, // 2.04 TB/s, of which 0.86 as on the H200
    .dramWrite = 1.6e12,
    .narrowPieces = 0.1,
    .unalignedRows = 1.3,
    .piecesOfRows = 0.3,
    .partsOfRows = 0.15,
    .dirtyBytes = 30e6,
    .tmaBytes = 60, // 5120 bytes a clock of L2 for 108 multiprocessors
    .tmaBytesAlone = 60,
    .acrossLines = 0.5,
    .acrossSectors = 0.6,
    .beyondBytes = 17,
    .beyondColumns = 24,
    .beyondColumnsAlone = 87,
    .multicast = 1.3,
    .clusterStart = 1000,
    .clusterRound = 200,
    .loadBytes = 48,
    .storeBytes = 48,
    .sharedBytes = 128,
    .operandBytes = 128,
    .issue = 4,
    .lanesSpecial = 16,
    .elementCopies = 4.5,
    .asyncWords = 4.8,
    .accesses = 1,
    .alone = 2,
    .wgmmaFlop = 2048,
    .mmaFlop = 2048, // 312 TFLOP/s at 1.41 GHz
    .lanesF32 = 64,
    .f64Flop = 128,  // 19.5 TFLOP/s at 1.41 GHz
    .fmaSlots = 1.4, // as code for sm_80 does on the H200: 40 TFLOP/s
    .iteration = 180,
    .shortRing = 50,
    .behindProduct = 650,
    .inOrderProduct = 900,
    .soonerStart = 1300,
    .soonerElements = 800,
    .queueing = 1.4,
    .storeOfSum = 7,
    .storeByTma = 150,
    .exchange = 200,
    .missLatency = 1250,
    .elementLatency = 1025,
    .globalLatency = 800,
    .sharedLatency = 32,
    .specialLatency = 40,
    .mmaLatency = 40,
    .shuffleLatency = 25,
    .barrier = 45,
    .atomic = 800,
};

const MachineModel &machineModelOf(int arch) { return arch >= 90 ? hopper : ampere; }

const MachineModel &machineModel(const Target &target) { return machineModelOf(target.arch); }

double mostFlop(int arch, llvm::StringRef type) {
  const MachineModel &machine = machineModelOf(arch);
  const bool isByteFloat = type == "e4m3" || type == "e5m2";
  if (type == "i8" || type == "u8" || (isByteFloat && arch >= 89)) {
    return 2 * machine.wgmmaFlop;
  }
  if (type == "f16" || type == "bf16" || isByteFloat) {
    return machine.wgmmaFlop;
  }
  if (type == "tf32") {
    return machine.wgmmaFlop / 2;
  }
  return type == "f64" ? machine.f64Flop : 2 * machine.lanesF32;
}

} // namespace tilec
