"""What lanes of a warp do together: shuffles, votes, matches, reductions; divergence and loops; special registers."""
from families.ptx import Probe, listed, random

FULL = "0xffffffff"


def shuffles():
    p = Probe("shfl", "shfl.sync: all modes, segments, predicate", [random(64, 4, 101), random(64, 4, 102, **{"and": 31})], "sm_80", block=64)
    value, lane = p.load(p.at[0], 4), p.load(p.at[1], 4)
    result, predicate = p.new("b32"), p.new("pred")
    # Clamp in bits 0-4, mask of the segment in bits 8-12.
    for mode, source, clamp in (("up", 1, 0), ("up", 5, 0), ("up", 3, 0x1800), ("down", 1, 31), ("down", 9, 31), ("down", 2, 0x181F),
                                ("bfly", 1, 31), ("bfly", 16, 31), ("bfly", 3, 0x1C1F), ("idx", 0, 31), ("idx", 17, 31), ("idx", 2, 0x181F), ("idx", lane, 31)):
        p.emit(f"shfl.sync.{mode}.b32 {result}|{predicate}, {value}, {source}, {clamp}, {FULL};")
        p.store(result, 4)
        p.store_flag(predicate)
    p = Probe("shfl_subset", "shfl.sync of some lanes of a divided warp", [random(32, 4, 103)], "sm_80")
    value, predicate, result = p.load(p.at[0], 4), p.new("pred"), p.value(0)
    p.emit(f"setp.lt.u32 {predicate}, {p.tid}, 16;", f"@{predicate} bra LOW;", f"shfl.sync.bfly.b32 {result}, {value}, 4, 31, 0xffff0000;", "bra DONE;",
           "LOW:", f"shfl.sync.down.b32 {result}, {value}, 3, 0x181f, 0x0000ffff;", "DONE:", f"bar.warp.sync {FULL};")
    p.store(result, 4)


def votes():
    p = Probe("vote", "vote.sync: all, any, uni, ballot", [listed([0, 1, 1, 0, 7], 4, 96), listed([1], 4, 96), listed([0], 4, 96)], "sm_80", block=96)
    predicate, answer, ballot = p.new("pred"), p.new("pred"), p.new("b32")
    for at in p.at:
        value = p.load(at, 4)
        p.emit(f"setp.ne.u32 {predicate}, {value}, 0;")
        for mode in ("all", "any", "uni"):
            p.emit(f"vote.sync.{mode}.pred {answer}, {predicate}, {FULL};")
            p.store_flag(answer)
        p.emit(f"vote.sync.ballot.b32 {ballot}, {predicate}, {FULL};")
        p.store(ballot, 4)
        p.emit(f"vote.sync.ballot.b32 {ballot}, !{predicate}, {FULL};")
        p.store(ballot, 4)
    p = Probe("match", "match.sync: any and all, 32 and 64 bits", [random(64, 4, 104, **{"and": 3}), listed([9], 4, 64), random(64, 8, 105, **{"and": 0x100000001})], "sm_80", block=64)
    mask, predicate = p.new("b32"), p.new("pred")
    for at, width in zip(p.at, (4, 4, 8)):
        value = p.load(at, width)
        p.emit(f"match.any.sync.b{8 * width} {mask}, {value}, {FULL};")
        p.store(mask, 4)
        p.emit(f"match.all.sync.b{8 * width} {mask}|{predicate}, {value}, {FULL};")
        p.store(mask, 4)
        p.store_flag(predicate)
    p = Probe("redux", "redux.sync: all operations, whole warp and half of one", [random(64, 4, 106)], "sm_80", block=64)
    value, result, predicate = p.load(p.at[0], 4), p.new("b32"), p.new("pred")
    for operation in ("add.s32", "add.u32", "min.s32", "min.u32", "max.s32", "max.u32", "and.b32", "or.b32", "xor.b32"):
        p.emit(f"redux.sync.{operation} {result}, {value}, {FULL};")
        p.store(result, 4)
    lane = p.value("%laneid")
    p.emit(f"setp.ge.u32 {predicate}, {lane}, 16;", f"@{predicate} bra HIGH;", f"redux.sync.add.s32 {result}, {value}, 0xffff;", "HIGH:", f"bar.warp.sync {FULL};")
    p.store(result, 4)
    p = Probe("elect", "elect.sync and activemask", [], "sm_90", block=64)
    leader, predicate, mask = p.new("b32"), p.new("pred"), p.new("b32")
    p.emit(f"elect.sync {leader}|{predicate}, {FULL};")
    p.store(leader, 4)
    p.store_flag(predicate)
    p.emit(f"elect.sync _|{predicate}, {FULL};")
    p.store_flag(predicate)
    p.emit(f"activemask.b32 {mask};")
    p.store(mask, 4)


def divergence():
    p = Probe("divergence", "branches nested in loops, each thread its own number of turns", [random(128, 4, 107, **{"and": 1023})], "sm_80", block=128)
    value, turns, odd, total = p.load(p.at[0], 4), p.value(0), p.new("b32"), p.value(0)
    stop, predicate = p.new("pred"), p.new("pred")
    p.emit(f"add.u32 {value}, {value}, 1;", "LOOP:", f"setp.eq.u32 {stop}, {value}, 1;", f"@{stop} bra END;", f"and.b32 {odd}, {value}, 1;",
           f"setp.eq.u32 {predicate}, {odd}, 0;", f"@{predicate} bra EVEN;", f"mad.lo.u32 {value}, {value}, 3, 1;", f"add.u32 {total}, {total}, {value};", "bra NEXT;",
           "EVEN:", f"shr.u32 {value}, {value}, 1;", "NEXT:", f"add.u32 {turns}, {turns}, 1;", "bra.uni LOOP;", "END:")
    p.store(turns, 4)
    p.store(total, 4)
    p = Probe("divergence_exit", "some threads leave early; the others synchronise and go on", [random(64, 4, 108)], "sm_80", block=64)
    value, predicate, mask, result = p.load(p.at[0], 4), p.new("pred"), p.new("b32"), p.new("b32")
    p.emit(f"and.b32 {mask}, {p.tid}, 31;", f"setp.ge.u32 {predicate}, {mask}, 20;")
    p.store(p.value(1), 4)
    p.emit(f"@{predicate} exit;", f"shfl.sync.bfly.b32 {result}, {value}, 2, 31, 0x000fffff;", "bar.sync 0;")
    p.store(result, 4)
    p = Probe("branch_table", "brx.idx", [random(64, 4, 109, **{"and": 3})], "sm_80", block=64)
    value, result = p.load(p.at[0], 4), p.new("b32")
    p.emit("targets: .branchtargets T0, T1, T2, T3;", f"brx.idx {value}, targets;")
    for i in range(4):
        p.emit(f"T{i}:", f"mov.u32 {result}, {i * i + 5};", "bra DONE;")
    p.emit("DONE:")
    p.store(result, 4)


def special_registers():
    p = Probe("special_registers", "what threads, blocks and lanes are numbered", [], "sm_80", block=96, grid=3)
    place = p.new("b32")
    p.emit(f"mov.u32 {place}, %ctaid.x;", f"mad.lo.u32 {place}, {place}, 96, {p.tid};")
    for name in ("tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ctaid.x", "ctaid.y", "nctaid.x", "nctaid.z", "laneid",
                 "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt", "dynamic_smem_size"):
        p.store(p.value("%" + name), 4, place)


def add_probes():
    shuffles()
    votes()
    divergence()
    special_registers()
