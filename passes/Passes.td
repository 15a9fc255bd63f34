//===- Passes.td - the passes of tilec ------------------------------------===//
//
// In the order of the pipeline (compiler/driver/Pipeline.cpp). Each entry says what a pass needs, what it guarantees
// and which remarks it makes; its file says how.
//
// No pass has statistics: LLVM as packaged is compiled without, so that an mlir::Pass::Statistic is another class there than
// in our code, whose assertions are on, and its members are never initialised.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_TD
#define TILEC_PASSES_TD

include "mlir/Pass/PassBase.td"

def InsertChecks : Pass<"tile-insert-checks", "tile::KernelOp"> {
  let summary = "Test at run time what can be an error of the program";
  let description = [{
    For `--check`, before all others. Needs: `tile.kernel`s as the front end makes them. Gives: in launches a `tile.verify` before
    each sum, difference or product that may not overflow, each scalar division and shift, each index of a buffer or an
    array, each loop with a computed step, and in place of each `tile.assert` and `tile.assume`. What is provably right is
    left out.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::vector::VectorDialect"];
}

def WrapIntegers : Pass<"tile-wrap-integers", "mlir::ModuleOp"> {
  let summary = "Drop what the program promises of overflow in launches: an error must not delete guards";
  let description = [{
    Needs: nothing; whoever lowers checks of overflow runs before. Gives: no arithmetic inside a `tile.launch` carries overflow
    flags, it wraps. Host code keeps them: it is exact.
  }];
}

def OutlineLaunches : Pass<"tile-outline-launches", "mlir::ModuleOp"> {
  let summary = "Make each launch's body a tgpu.kernel of its own";
  let description = [{
    Needs: `tile.kernel`s as the front end makes them. Gives: for each `tile.launch` a `tgpu.launch` with the grid and the
    host values that the body uses, and a `tgpu.kernel` that takes them. Tensors arrive as base addresses; extents and
    strides are separate arguments, and extents that `tile.check` equates share one. A tensor of packed elements has a
    view of its bytes, seen as elements by a `tile.bitcast_view`. What checks say about divisibility becomes `tgpu.divisible` on arguments.
    A kernel `follows` where another launch of the call may come before it, and `precedes` one that does; `tgpu.written_before` is on
    arguments that those before may write.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect"];
}

def PassReciprocals : Pass<"tgpu-pass-reciprocals", "mlir::ModuleOp"> {
  let summary = "Let the host compute what makes divisions multiplications";
  let description = [{
    Needs: outlined launches, one kernel for each. For each divisor that the host can compute the launch passes three more arguments,
    and `tgpu.reciprocal` on the divisor's says which. A divisor that the kernel computes from its arguments becomes one, and so does
    a quotient of two such numbers. Divisions of 64 bits whose operands are known to fit 32 become divisions of these.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect"];
}

def RaiseParallel : Pass<"tgpu-raise-parallel", "tilec::tgpu::KernelOp"> {
  let summary = "Turn `parallel` loops into operations on whole tiles";
  let description = [{
    Needs: an outlined kernel. Each value of the body becomes a tile over those loop indices that it depends on, or stays a scalar
    if it depends on none; conditions become masks. A read of a tile at the loop's own indices is the tile (transposed, repeated
    along the others); what runs along global memory is a load or store of a slice; all else is `tgpu.gather` and
    `tgpu.scatter`, for fragments through shared memory, with a remark that says what it costs. A variable is a fragment. A loop
    whose bounds or condition differ between iterations goes on, masked, until all are done. Loops that index no tile and
    are large, or of unknown size, go over their indices piece by piece. Gives: no `tile.parallel`.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def ConvertTileToTgpu : Pass<"convert-tile-to-tgpu", "tilec::tgpu::KernelOp"> {
  let summary = "Turn fragments and variables into SSA values, and operations on buffers into tgpu operations";
  let description = [{
    Needs: an outlined kernel. Gives: `shared` buffers are `tgpu.alloc_shared`; `fragment` and `uniform` buffers are gone: their
    contents are SSA values carried through `scf.for`, `scf.if` and `scf.while`; copies are `tgpu.copy` (global and shared
    memory), `tgpu.load`/`tgpu.store` (global memory and fragments), `tgpu.local_load`/`tgpu.local_store`; products are
    `tgpu.dot`. Slices of gathered dimensions are gathers by the indices that they take, read in shared memory (a remark).
    Operations that no GPU lowering takes yet are errors [not-supported].
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def PackElements : Pass<"tgpu-pack-elements", "tilec::tgpu::KernelOp"> {
  let summary = "Turn memory of elements of 4 bits into memory of bytes";
  let description = [{
    Needs: fragments as values. Views and buffers of `i4` and `f4E2M1FN` become such of `i8` with half the extent along the last
    dimension; behind a load of bytes stands `tgpu.unpack`, before a store `tgpu.pack`. A row that may end inside a byte is
    loaded through registers, which clear what lies behind its end, with a remark; stores to it are errors [not-supported], as is
    writing elements at computed indices. Gives: no access of memory of packed elements.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect"];
}

def UnrollLoops : Pass<"tgpu-unroll-loops", "tilec::tgpu::KernelOp"> {
  let summary = "Repeat the bodies of unrolled loops, and issue what they load together";
  let description = [{
    Needs: `tile.unroll` on loops; steps that are constants (others stay as they are). Gives: a loop over as many bodies as the
    factor says, the loads of global memory at its begin where nothing before them may write, and behind it the loop for
    what is left. Bodies that are long are fewer, a divisor of the factor (a remark).
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def DropCarried : Pass<"tgpu-drop-carried", "tilec::tgpu::KernelOp"> {
  let summary = "Hand on unchanged what loops carry and nothing reads";
  let description = [{
    Needs: fragments as values. Gives: loops whose carried values that nothing reads, by MLIR's analysis of liveness, go round as they came, so that
    canonicalization takes them out: a fragment that is declared outside of a loop and written as a whole in each iteration.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def MergeComparisons : Pass<"tgpu-merge-comparisons", "tilec::tgpu::KernelOp"> {
  let summary = "Compare the elements of a tile with one bound in place of two";
  let description = [{
    Tiles of conditions that `or`, or `and`, joins: two comparisons of the same places with bounds on the same side become one, with
    the lesser bound or the greater one. It has the dimensions of that bound which has more of them: for a causal mask and the end of the keys
    one bound for each row.
  }];
}

def JoinNeighbours : Pass<"tgpu-join-neighbours", "tilec::tgpu::KernelOp"> {
  let summary = "Join accesses of a thread to elements that lie side by side";
  let description = [{
    Needs: common subexpressions eliminated. Gives: in `threads` regions, one access of a vector for 2^n elements of a row, up to 16
    bytes, that one block of code reads, or writes, the first of them at a multiple of 2^n. Nothing that orders memory or
    may access the same elements lies between. Comes before the variants, whose assumptions follow from the accesses.
  }];
  let dependentDialects = ["mlir::vector::VectorDialect"];
}

def MakeVariants : Pass<"tgpu-make-variants", "mlir::ModuleOp"> {
  let summary = "Clone kernels under the alignment assumptions that fast copies need";
  let description = [{
    Needs: outlined kernels with a target. A kernel whose tensors have row strides that are not known to be multiples of 16
    bytes becomes two: `aligned`, whose guard assumes that they are, and `any`, without assumptions, in this order of
    preference. Tiles much smaller than the largest one have no say. Kernels whose strides are known, or that copy no tiles,
    stay as they are. With `words`, and if one of them copies tiles into shared memory by less than 4 bytes, there is one more between the two: its
    guard assumes multiples of 4, the least that cp.async moves.
    Before all of these comes `clustered`, where the kernel has a `cluster`, which the others lose: its blocks are in clusters, the
    grid is one of whole clusters. Where there can be none, a remark says why.
  }];
  let options = [
    Option<"words", "words", "bool", "false", "a variant for rows at multiples of 4 bytes, too">
  ];
  let dependentDialects = ["tilec::tgpu::TgpuDialect"];
}

def MakePersistent : Pass<"tgpu-make-persistent", "tilec::tgpu::KernelOp"> {
  let summary = "Let each block of a persistent kernel work through grid points";
  let description = [{
    Needs: `tgpu.grid_point` of `tgpu.block_id`. Gives: if the kernel is `persistent`, its work inside a loop over one point
    of each num_blocks that follow each other: the block_id-th from the start and from the end in turn; where an argument is
    a `tgpu.point_counter`, over point block_id and then those that the counter gives, which is asked behind
    the last loop of a point; nothing otherwise.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def Bounds : Pass<"tgpu-bounds", "tilec::tgpu::KernelOp"> {
  let summary = "Find accesses that stay inside their tensor";
  let description = [{
    Gives copies, loads and stores `tgpu.in_bounds`, one flag for each dimension of their slice of global memory: true where
    constant extents, the grid and loop bounds prove that no index is out of range, so that no guard is needed.
  }];
}

def SelectMma : Pass<"tgpu-select-mma", "tilec::tgpu::KernelOp"> {
  let summary = "Choose the instruction of each matrix product and how warps share it";
  let description = [{
    Gives each `tgpu.dot` the attribute `mma`: wgmma, mma.sync or scalar multiply-adds, in this order of preference. A
    lesser choice is a remark with its reason, or an error where `@require` asks for more. 8-bit floats go to mma.sync on all
    targets: where it does not know them their fragments are decoded to f16, with a remark. Extents that are no multiples of
    mma.sync are padded to whole instructions for each warp, with a remark. Operands in registers that the choice cannot take
    there (all of scalar multiply-adds, k to be padded) are stored to a shared buffer, with a remark.
  }];
}

def SelectCopies : Pass<"tgpu-select-copies", "tilec::tgpu::KernelOp"> {
  let summary = "Choose how each copy to or from global memory moves";
  let description = [{
    Gives each `tgpu.copy` and `tgpu.store` its `path` (TMA, cp.async, vector accesses) and each access of global memory
    the `bytes` that it may move at once, from what is known of strides, offsets and extents. What is not TMA where
    the target has it is a remark with the reason, or an error where `@require` asks for more. A kernel whose threads copy operands of
    products gets `aimed_blocks`, unless the program asks for some number of blocks itself.
  }];
}

def EstimateCost : Pass<"tgpu-estimate-cost", "mlir::ModuleOp"> {
  let summary = "Write what each launch is expected to take, as arithmetic of the host";
  let description = [{
    Needs: instructions and copy paths chosen, loops as the program wrote them. Gives: in front of each `tgpu.launch` a `tgpu.cost`
    for each of its kernels: seconds, out of the launch's operands and the number of multiprocessors, with the terms that they are
    made of. The work of a block is counted by resource (tensor cores, bytes, instructions, ...) as often as loops run; what depends
    on coordinates of blocks is taken in the middle of its range, a loop that nothing bounds goes round 8 times. A remark says what
    bounds the launch. Rates are those of MachineModel.cpp.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def KeepVariants : Pass<"tgpu-keep-variants", "mlir::ModuleOp"> {
  let summary = "Leave some variants of each kernel";
  let description = [{
    Needs: costs, which compare a variant with those that assume more. Erases the other variants of each kernel, with their costs:
    of the parameters that `auto` takes some are compiled for aligned rows alone, some for rows that start anywhere. Kernels without variants
    by alignment stay.
  }];
  let options = [
    ListOption<"only", "only", "std::string", "of `aligned`, `words` and `any`; empty: all variants stay">
  ];
  let dependentDialects = ["tilec::tgpu::TgpuDialect"];
}

def InferLayouts : Pass<"tgpu-infer-layouts", "tilec::tgpu::KernelOp"> {
  let summary = "Give each fragment a layout";
  let description = [{
    Needs: instructions and copy paths chosen. Layouts spread from the strongest demand to the weakest: what a matrix
    instruction demands, what element-wise neighbours, loops and branches share, what reductions and transposes derive,
    then, for what only moves, the widest coalesced access: on both sides of a transpose, where memory is accessed on both. The first to
    arrive wins, but where layouts of two products meet, another one may end there if conversions, reductions, scans and accesses cost less
    then, each as often as loops run, in an estimate (a remark); so may one with rows in one warp each, where rows are reduced across warps,
    and one that follows from what is broadcast, where that would be exchanged between warps. Where two demands meet a `tgpu.convert_layout` is inserted, with a
    remark that says what it costs: shuffles, accesses and instructions of a thread, bytes through shared memory, barriers. Gives: every
    fragment has a layout.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect"];
}

def DeferReductions : Pass<"tgpu-defer-reductions", "tilec::tgpu::KernelOp"> {
  let summary = "Let loops carry partial values, and combine these once behind the loop";
  let description = [{
    Needs: layouts of fragments. What a loop carries and in it only combines with a reduction, `s = s + reduce_sum(x)`, or scales
    before, `s = s * f + reduce_sum(x)`, in branches or not, and nothing else reads there, becomes partial: each thread reduces what it holds itself
    (`tgpu.accumulate_partial`), and a reduction of the threads' parts (`tgpu.partial_parts`) stands behind the loop. Sums of floats
    of 32 and 64 bits, extremes, and all kinds of integers; language.md section 13 leaves the order open. Inner loops come first, so that what they leave behind
    them can leave the outer ones. A remark says what each iteration saves, or why a value that is combined with a reduction, also by
    a function of the program's own, stays complete.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect"];
}

def LowerReductions : Pass<"tgpu-lower-reductions", "tilec::tgpu::KernelOp"> {
  let summary = "Take reductions apart into steps in a thread, a warp and a block";
  let description = [{
    Needs: layouts of fragments. A `tile.reduce` or `tile.reduce_with` whose elements several warps hold becomes
    `tgpu.reduce_in_warps`, a conversion of layouts that gives each thread the parts of all warps, and a reduction of these in each
    thread. Over all dimensions: one after the other. In a built-in one f16 and bf16 stay f32 between the steps. Gives: each is along
    one dimension, of which no two warps hold different elements, and its results have the layout of its inputs without it.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect"];
}

def LowerScans : Pass<"tgpu-lower-scans", "tilec::tgpu::KernelOp"> {
  let summary = "Take scans apart into steps in a warp and across warps";
  let description = [{
    Needs: layouts of fragments. A `tile.scan` or `tile.scan_with` whose rows several warps hold becomes `tgpu.scan_in_warps`, a
    conversion of layouts that gives each thread the totals of all warps, and `tgpu.scan_across_warps`. Where the layout holds no
    blocks of blocks of neighbours (layout::planScan), or so small ones that lanes would have too much to exchange, inputs are converted
    to one that holds long runs, and results back, with a remark that says what it costs. In built-in sums and products f16 and bf16 run on in f32. Gives: the rows of each scan that is left lie in warps,
    in such a layout.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect"];
}

def CheckRegisters : Pass<"tgpu-check-registers", "tilec::tgpu::KernelOp"> {
  let summary = "Refuse fragments that the registers of a thread cannot hold";
  let description = [{
    Needs: layouts of fragments. Changes nothing. A fragment, or what one loop carries, that takes more registers than a thread of
    this kernel can have is an error [fragment-too-large] that lists the fragments.
  }];
}

def SelectSharedLayouts : Pass<"tgpu-select-shared-layouts", "tilec::tgpu::KernelOp"> {
  let summary = "Choose order, panels and swizzle of each buffer in shared memory";
  let description = [{
    Collects what each user of a buffer demands (wgmma operand, TMA box, ldmatrix, stmatrix, plain accesses) and takes the
    layout that meets the required ones with the fewest bank conflicts; a `@layout` of the program is taken instead if it
    can be used [layout-unusable]. Conflicts that remain are a remark.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect"];
}

def LowerDots : Pass<"tgpu-lower-dots", "tilec::tgpu::KernelOp"> {
  let summary = "Replace matrix products by the instructions chosen for them";
  let description = [{
    wgmma: fence, issue, commit, wait for all; a schedule may move the wait (tgpu-expand-pipeline). mma.sync: for each k-step
    operand fragments from shared memory and one `tgpu.mma`. Both add sums of fp8 to an f32 accumulator every `promote`
    elements of k, but for targets that decode them to f16, whose sums are f32's. Scalar: `tgpu.fma`.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect"];
}

def LowerCopies : Pass<"tgpu-lower-copies", "tilec::tgpu::KernelOp"> {
  let summary = "Stage stores by TMA through shared memory, and make lone copies synchronous";
  let description = [{
    Needs: layouts of fragments and buffers. A `tgpu.store` with path TMA becomes panels of columns written to a ring of two
    staging buffers and stored from there; where the fragment does not divide into panels it stays a store from
    registers (a remark). Copies that no pipelined loop will overlap stay by TMA where that pays (TileFills.h), become cp.async with its
    wait, or plain; a buffer outside of loops is stored by TMA from where it lies. The barriers and proxy fences between are
    left to tgpu-insert-sync, but where warpgroups of a persistent block hold rows of a panel of their own: these stage and store them by themselves
    (`groups`), with barriers and fences that stand here.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect"];
}

def PlanPipeline : Pass<"tgpu-plan-pipeline", "tilec::tgpu::KernelOp"> {
  let summary = "Decide stages and order of each pipelined loop";
  let description = [{
    Needs: lowered products, chosen copies and layouts. Gives: on a loop with `tile.stages` that can be pipelined the attribute
    `tgpu.pipeline` (how its copies move), the number of stages that fit, and on its operations `tgpu.schedule`; tests
    write these by hand. What stays serial (a copy, or all of the loop), or has fewer stages than asked for, is a remark with
    its reason. Buffers that become rings are declared before the loop. Loads of global memory into fragments get a stage before the
    last as well, as far ahead as registers allow; in a loop without rings the path is `vector`. Stages fit if tgpu-allocate-shared can place
    the rings beside what is live together with them.
  }];
}

def ExpandPipeline : Pass<"tgpu-expand-pipeline", "tilec::tgpu::KernelOp"> {
  let summary = "Carry out the schedules of pipelined loops: rings, prologues, waits";
  let description = [{
    Needs: schedules as tgpu-plan-pipeline writes them. Gives: buffers as rings, the copies of stage 0 running ahead, by TMA
    with a channel whose position runs on across the loops around, or by cp.async groups; a matrix wait of a stage
    after the last runs one iteration behind its product, reads of the first mma.sync of a stage before the last one
    iteration ahead. Values of loads into fragments of an earlier stage are carried from iteration to iteration; a short loop without
    rings is repeated, so that none moves to another register. Where a copy by TMA takes part of a view with bounds of its own, a `tgpu.zero_beyond` follows in the copy's place, in
    a branch that only tiles across a bound take (a remark). A schedule that changes what the loop means is an error.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def MakeChannels : Pass<"tgpu-make-channels", "tilec::tgpu::KernelOp"> {
  let summary = "Copies by TMA in pipelined loops become rings with channels: fill, wait, release";
  let description = [{
    Needs: loops whose `tgpu.pipeline` has the path `tma`, their copies with `tgpu.schedule` of stage 0, layouts. Gives: the loop,
    still serial, over the numbers of its iterations; each buffer as a ring, and in place of its copy one thread that acquires
    a slot, expects its bytes and loads; a wait before the first reader and a release behind the last. Buffers that are read
    between the same operations share a channel. The position in a ring runs on across the loops and branches around. Where a copy takes part of a
    view with bounds of its own a `tgpu.zero_beyond` follows the wait, in a branch that only tiles across a bound take (a remark).
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def PlanRoles : Pass<"tgpu-plan-roles", "tilec::tgpu::KernelOp"> {
  let summary = "Roles by operation, where `@warp_specialize(operations)` asks for them";
  let description = [{
    Needs: paths of copies and instructions of products, no layouts. Gives: `tgpu.role` on the operations on tiles; where a tile of one role is needed
    by another a buffer (`tgpu.hand_over`), stored and read; `threads` and products of one warpgroup. A sum that goes round a pipelined loop through a product is the
    work of a role of its own, all else that of role 0. The kernel stays serial. What is refused keeps its warps (a remark, an error where the program requires roles), with `warp_specialize` off.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect"];
}

def SliceRoles : Pass<"tgpu-slice-roles", "tilec::tgpu::KernelOp"> {
  let summary = "Warps that load and warps that compute, where `@warp_specialize` asks for them";
  let description = [{
    Needs: channels, as tgpu-make-channels leaves them; `warp_specialize` of the kernel. Gives: `tgpu.roles` with the fills and what decides them
    in one role, of four more warps (`block_threads`), and all else in the other; registers are moved from the first to the second where
    no second block has room. With `pingpong` two teams run the other, each for every other point of the loop over the grid (TakeTurns.h); without
    such a loop, or where it does not carry positions alone, one does. What an atomic operation gives and the fills need, the role that loads posts in a mailbox for all warps (the next grid point by the warp that fills, behind the fills). Why a kernel that should have roles has none is a remark, and an error where the program requires them.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def FormClusters : Pass<"tgpu-form-clusters", "mlir::ModuleOp"> {
  let summary = "Let blocks of a cluster load for each other what they load alike";
  let description = [{
    Needs: roles. Of kernels with a `cluster` tma_loads whose source, and channels whose way through their slots, are those of all blocks along some of
    its dimensions get them as `across` (ClusterLoads.h): each block loads a share of the boxes into all of them. A kernel without any such
    load goes, with its cost; so does another variant of its launch with the same guard if there are some, and what is left costs no more than one with
    another. Remarks say which, and why.
  }];
}

def PlanSchedule : Pass<"tgpu-plan-schedule", "tilec::tgpu::KernelOp"> {
  let summary = "Stages and order for the operations of loops with channels";
  let description = [{
    Needs: loops as tgpu-make-channels leaves them. Gives: `tgpu.schedule` on all operations of the body that are not scalars, views or the like.
    A negative stage runs ahead (fills, loads into fragments), stage 1 an iteration behind. Products that need each other through element-wise work
    get different stages, so that the work is under a product of another iteration; a product whose sum only the next one takes is retired
    an iteration later; a wait for a product goes into the exponentials before it (`hold`). Loads that run ahead come first, or
    behind a proxy fence, which waits for them. What registers do not hold is given up. Each choice is a remark; tests write schedules by hand.
  }];
  let options = [
    Option<"randomSeed", "random-seed", "unsigned", "0", "draw stages, order and holds, any that keep what the loop means; 0: plan them">
  ];
}

def ExpandSchedule : Pass<"tgpu-expand-schedule", "tilec::tgpu::KernelOp"> {
  let summary = "Carry out the schedules of loops with channels: prologue, steps, the last iteration's end";
  let description = [{
    Needs: schedules as tgpu-plan-schedule writes them. Gives: loops in which an operation of stage s works on iteration j - s in step j.
    What runs ahead starts before the loop and is guarded by the number of iterations, what runs behind ends after it. Values
    are carried from step to step; how many groups of products a wait leaves in flight is counted. Operations of one `order`, of which some have
    a `hold`, become a `tgpu.stream`. A schedule that changes what the loop means is an error.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "tilec::tile::TileDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def SplitLoops : Pass<"tgpu-split-loops", "tilec::tgpu::KernelOp"> {
  let summary = "Cut loops of products where the condition of a branch turns (index-set splitting)";
  let description = [{
    Needs: pipelines expanded. A loop with products whose body has a branch around a fragment, on a comparison that turns once while the
    loop runs, or `and` and `or` of such, becomes two loops that follow each other; the one in which the condition is false has no branch (a
    remark). Loops whose copies are by cp.async stay whole, those that give back the slot of the iteration before, and those in which blocks
    of a cluster fill each other's slots, for conditions that differ between these (a remark). So the steps of causal attention mask only the tiles that the diagonal or the end of the keys crosses.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def CoalesceStores : Pass<"tgpu-coalesce-stores", "tilec::tgpu::KernelOp"> {
  let summary = "Store neighbours of a row together where a fragment's lanes are scattered over rows";
  let description = [{
    Needs: layouts of fragments, pipelines expanded. A `tgpu.store` from registers whose accesses touch many lines of memory and fill
    little of each, as those of an accumulator do, gets its fragment in a layout with more of a row beside each other (a remark), where
    that is estimated to take three quarters of the time at most. The cheaper of two ways: lanes of a warp exchange words until each has as
    many neighbours as an access may move; or, where it costs no block on a multiprocessor and the fragment is not a role's beside
    others, all goes through shared memory to a layout whose lanes follow the rows.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "tilec::tile::TileDialect", "mlir::arith::ArithDialect"];
}

def VoteRescales : Pass<"tgpu-vote-rescales", "tilec::tgpu::KernelOp"> {
  let summary = "Scale sums only in warps that have a factor other than 1";
  let description = [{
    Needs: layouts of fragments, products lowered. Gives: `tgpu.under_vote = true` on each f32 `arith.mulf` of tiles whose result wgmma
    adds to, now or in the next iteration of a loop that carries it, where a thread has 32 multiplications or more, and at least 16 for each
    factor (a remark). Those that have the attribute already keep it: `false` multiplies always. A sum that the block only hands on is
    scaled at its end. Exact, since x * 1 is x; a factor that is NaN is no 1.
  }];
}

def IssueInTurn : Pass<"tgpu-issue-in-turn", "tilec::tgpu::KernelOp"> {
  let summary = "Let warpgroups issue the products of a step one after the other";
  let description = [{
    Needs: pipelines expanded, synchronisation placed and checked. Gives: in loops with `tile.turns` `tgpu.await_turn` before the first product of a step
    and `tgpu.pass_turn` behind the last one before a wait, and one of each where the program of the warpgroups ends and begins (a remark, or why not).
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def NarrowSteps : Pass<"tgpu-narrow-steps", "tilec::tgpu::KernelOp"> {
  let summary = "Let warpgroups to whose rows a mask leaves few columns compute no others";
  let description = [{
    Needs: pipelines expanded, synchronisation placed and checked. Gives: of loops whose steps mask what a wgmma gave, in a branch of their own, steps
    in copies: for warpgroups to whose rows the mask leaves no column (where there are more rows than columns), the first half of them, or more (a remark). What is not computed is
    what the mask puts there. Not where A is in registers, where something else sees what the product gave, where the mask is the same in all rows, or where
    registers are short.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "tilec::tile::TileDialect"];
}

def StartSums : Pass<"tgpu-start-sums", "tilec::tgpu::KernelOp"> {
  let summary = "Let the first product of a loop begin the sum that it adds to";
  let description = [{
    Needs: products lowered to wgmma. Gives: where a loop of products carries zeros that one of them alone adds to, the first iteration before
    the loop, with a product that does not accumulate; where there may be no iteration, both in an `scf.if`, with the wait for the products.
  }];
}

def AllocateShared : Pass<"tgpu-allocate-shared", "tilec::tgpu::KernelOp"> {
  let summary = "Give buffers, scratch spaces and channels their places in shared memory";
  let description = [{
    Needs: layouts of buffers; pipelines expanded. Gives: `offset` of each buffer and channel, `scratch` of each conversion that
    goes through shared memory, `shared_bytes` of the kernel. Buffers that are never live at the same time may overlap. More
    than the target has is an error [shared-too-large] that lists the buffers.
  }];
}

def InsertSync : Pass<"tgpu-insert-sync", "tilec::tgpu::KernelOp"> {
  let summary = "Insert the barriers, proxy fences and waits that the data flow through memory needs";
  let description = [{
    Needs: offsets of buffers, since overlapping ones depend on each other. Gives: a `tgpu.barrier` between conflicting
    accesses of different threads, with a `tgpu.fence_async` before it where the later access is by TMA or wgmma; before it, too,
    a `tgpu.tma_store_wait 0` (without `read`) of the thread that stored by TMA to a region of global memory that is used
    again. Regions are apart when they belong to arguments that share no memory, or when their indices in some dimension do;
    the points of a grid need no order among themselves. Of buffers that TMA fills, or that a role publishes, channels order what
    is done to a slot before it is given back and after it is taken again; while it is held its accesses are ordered as elsewhere,
    those of a branch to what TMA has filled at the branch's end. A `tgpu.fence_async` comes before a release, or a publish, of what threads have used and TMA fills again, and before a
    publish of what they wrote for the async proxy. A barrier of groups of warps orders the accesses of a buffer of which each group touches a part of its own.
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect"];
  let options = [Option<"maxWalks", "max-walks", "int64_t", "0",
                        "Walks of a loop after which it is an error that nothing settles (0: as many as its rings may need)">];
}

def VerifySync : Pass<"tgpu-verify-sync", "tilec::tgpu::KernelOp"> {
  let summary = "Check that every dependency through shared and global memory is ordered";
  let description = [{
    Changes nothing. An access that races with an earlier one, data that reaches the async proxy unfenced, a broken protocol of a
    channel (a load without acquire or its exact bytes, a read without wait, a slot given back too early, never, or on some ways
    through a branch or loop only, one acquired and not filled, one handed to another role or filled again that its threads
    still use or never had, another number of arrivals than its barriers count), an accumulator used before its group is
    complete, a product without `tgpu.wgmma_fence`, an operand in registers that the wait for its product does not keep: each is
    an error at the later operation, or at the branch. So are operations on channels that wait for each other for ever in the
    steady state of loops, for positions that count with a loop's variable. Which way a branch takes is not known, but for
    comparisons with a loop's bounds and variable that stand in the kernel twice. Operations with regions other than loops,
    branches, roles and regions of threads are errors.
  }];
  let options = [Option<"maxWalks", "max-walks", "int64_t", "0",
                        "Walks of a loop after which it is an error that nothing settles (0: as many as its rings may need)">];
}

def OverlapLaunches : Pass<"tgpu-overlap-launches", "tilec::tgpu::KernelOp"> {
  let summary = "Let the launches of a call begin before those before them have ended";
  let description = [{
    Needs: a finished kernel with its target. Gives, where the target can: at the beginning of a kernel that `precedes` another
    `tgpu.launch_dependents`, and in one that `follows` another `tgpu.wait_for_launches` in front of the first operation that
    accesses global memory, or has one inside that does. Nothing may be put in front of that which does.
  }];
}

def ConvertTgpuToLLVM : Pass<"convert-tgpu-to-llvm", "mlir::ModuleOp"> {
  let summary = "Turn kernels into functions of one thread in the LLVM and NVVM dialects";
  let description = [{
    Needs: `tgpu.kernel`s whose layouts are chosen, whose buffers, channels and scratch spaces have offsets, and whose
    schedules are expanded. Gives: for each an `llvm.func` with `nvvm.kernel` and the launch bounds, and one external global of
    address space 3 for dynamic shared memory. Parameters: the kernel's arguments in order (tensors as addresses, `i1` as a
    byte), then each tensor map by value, 128 bytes. What the target cannot do is an error [not-supported].
  }];
  let dependentDialects = ["tilec::tgpu::TgpuDialect", "mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::math::MathDialect", "mlir::NVVM::NVVMDialect",
                           "mlir::scf::SCFDialect"];
}

#endif
