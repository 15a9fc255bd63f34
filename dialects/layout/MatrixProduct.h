// How warps share a matrix product: the one place that says which rows, columns and slots belong to
// which instruction of which warp. Layout inference takes the fragments' layouts from here, the
// lowering the slots and the origins, and the verifier checks any layouts against the instructions'
// own definition.
//
// Workers (warps of mma.sync, warpgroups of wgmma) form a grid of workersM x workersN, worker = wm
// + workersM * wn. Each owns a block of rows() x columns() of the accumulator: whole instructions,
// padded at the end. An instruction takes one block of rows (16 a warp, so 64 a warpgroup), one of
// columns, and one step of k. Whoever accumulates a row needs all of k of that row of A, so A in
// registers is replicated over workersN, B over workersM.
#pragma once

#include "dialects/layout/RegisterLayout.h"

namespace tilec::layout {

class MatrixProduct {
public:
  enum class Instruction : unsigned { Wgmma, MmaSync };

  struct Spec {
    Instruction instruction = Instruction::MmaSync;
    MmaType type = MmaType::F16;
    int64_t m = 0, n = 0, k = 0;    // of the product
    int64_t instructionColumns = 8; // wgmma: 8 to 256; mma.sync: 8
    int64_t workersM = 1, workersN = 1;
  };

  /// Refuses extents or a grid that are not positive, and columns that no instruction has.
  static Answer<MatrixProduct> get(const Spec &spec);

  // ---- Instructions of one worker, in the order of their slots.
  int64_t rowBlocks() const { return rowCount; }
  int64_t columnBlocks() const { return columnCount; }
  int64_t steps() const { return stepCount; }
  int64_t warpsPerWorker() const { return spec.instruction == Instruction::Wgmma ? 4 : 1; }
  int64_t instructionRows() const { return 16 * warpsPerWorker(); }
  int64_t instructionColumns() const { return spec.instructionColumns; }
  int64_t stepExtent() const { return instructionK(spec.type); }
  int64_t rows() const { return rowCount * instructionRows(); }
  int64_t columns() const { return columnCount * instructionColumns(); }
  int64_t numWarps() const { return spec.workersM * spec.workersN * warpsPerWorker(); }

  // ---- Slots of a thread. Those of one instruction are consecutive.
  int64_t accSlotsPerInstruction() const { return instructionColumns() / 2; }
  int64_t aSlotsPerInstruction() const { return 4 * slotsPerWord(); }
  int64_t bSlotsPerInstruction() const { return 2 * slotsPerWord(); }
  int64_t accSlot(int64_t rowBlock, int64_t columnBlock) const {
    return (rowBlock * columnCount + columnBlock) * accSlotsPerInstruction();
  }
  int64_t aSlot(int64_t rowBlock, int64_t step) const {
    return (rowBlock * stepCount + step) * aSlotsPerInstruction();
  }

  // ---- Layouts of the fragments: accumulator [m, n], A [m, k], B [k, n] (mma.sync only).
  Answer<RegisterLayout> accumulator() const;
  Answer<RegisterLayout> a() const;
  Answer<RegisterLayout> b() const;

  /// Checks, from the definition of the instruction (PTX ISA 9.1, 9.7.14.5 and 9.7.15.5), that with
  /// these layouts each owner of an element of the result accumulates each k exactly once. Operands
  /// without a layout (null) are read from shared memory, where the lowering addresses them by row,
  /// column and k. Empty when all is well, else what is wrong.
  std::string check(const RegisterLayout &accumulator, const RegisterLayout *a,
                    const RegisterLayout *b) const;

private:
  explicit MatrixProduct(const Spec &spec);
  int64_t slotsPerWord() const { return 32 / bitWidth(spec.type); }

  Spec spec;
  int64_t rowCount = 1, columnCount = 1, stepCount = 1;
};

} // namespace tilec::layout
