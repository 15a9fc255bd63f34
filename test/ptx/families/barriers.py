"""Named barriers and mbarriers within one block."""
from families.ptx import Probe, random


def named():
    p = Probe("bar_sync", "bar.sync of all threads, of some, barrier.sync; values through shared memory", [random(128, 4, 141)], "sm_80", block=128, shared=512)
    value, mine, other, predicate = p.load(p.at[0], 4), p.new("b32"), p.new("b32"), p.new("pred")
    p.emit(f"mov.u32 {mine}, smem;", f"mad.lo.u32 {mine}, {p.tid}, 4, {mine};", f"st.shared.b32 [{mine}], {value};", "bar.sync 0;",
           f"xor.b32 {other}, {p.tid}, 96;", f"mad.lo.u32 {other}, {other}, 4, smem_base;".replace("smem_base", p.value("smem")), f"ld.shared.b32 {value}, [{other}];", "barrier.sync.aligned 3;",
           f"add.u32 {value}, {value}, 1;", f"st.shared.b32 [{mine}], {value};", f"setp.lt.u32 {predicate}, {p.tid}, 64;", f"@{predicate} bra LOW;", "bar.sync 2, 64;", "bra DONE;",
           "LOW:", "bar.sync 1, 64;", "DONE:", f"xor.b32 {other}, {mine}, 0;", f"sub.u32 {other}, {mine}, {p.value('smem')};", f"xor.b32 {other}, {other}, 128;",
           f"add.u32 {other}, {other}, {p.value('smem')};", f"ld.shared.b32 {value}, [{other}];")
    p.store(value, 4)
    p = Probe("bar_arrive", "bar.arrive by producers, bar.sync by consumers, several rounds, barrier number in a register", [random(256, 4, 142)], "sm_80", block=64, shared=256)
    predicate, value, slot, total, full, empty = p.new("pred"), p.new("b32"), p.new("b32"), p.value(0), p.value(1), p.value(2)
    address, lane = p.new("b64"), p.new("b32")
    p.emit(f"and.b32 {lane}, {p.tid}, 31;", f"mov.u32 {slot}, smem;", f"mad.lo.u32 {slot}, {lane}, 4, {slot};", f"mad.wide.u32 {address}, {lane}, 4, {p.input};",
           f"setp.lt.u32 {predicate}, {p.tid}, 32;", f"@{predicate} bra PRODUCE;")
    for i in range(4):
        p.emit(f"bar.sync {full}, 64;", f"ld.shared.b32 {value}, [{slot}];", f"mad.lo.u32 {total}, {total}, 31, {value};")
        if i < 3:
            p.emit(f"bar.arrive {empty}, 64;")
    p.emit("bra DONE;", "PRODUCE:")
    for i in range(4):
        if i:
            p.emit("bar.sync 2, 64;")
        p.emit(f"ld.global.b32 {value}, [{address}+{128 * i}];", f"st.shared.b32 [{slot}], {value};", "bar.arrive 1, 64;")
    p.emit("DONE:")
    p.store(total, 4)
    p = Probe("bar_red", "bar.red: popc, and, or", [random(96, 4, 143)], "sm_80", block=96)
    value, predicate, answer, count = p.load(p.at[0], 4), p.new("pred"), p.new("pred"), p.new("b32")
    for bound in ("0", "-2147483648", "2147483647"):
        p.emit(f"setp.lt.s32 {predicate}, {value}, {bound};", f"bar.red.popc.u32 {count}, 0, {predicate};")
        p.store(count, 4)
        for operation in ("and", "or"):
            p.emit(f"bar.red.{operation}.pred {answer}, 0, {predicate};")
            p.store_flag(answer)
        p.emit(f"barrier.red.popc.aligned.u32 {count}, 1, 96, !{predicate};")
        p.store(count, 4)
    p = Probe("bar_warp", "bar.warp.sync orders memory of a warp", [random(64, 4, 144)], "sm_80", block=64, shared=256)
    value, mine, other = p.load(p.at[0], 4), p.new("b32"), p.new("b32")
    p.emit(f"mov.u32 {mine}, smem;", f"mad.lo.u32 {mine}, {p.tid}, 4, {mine};", f"st.shared.b32 [{mine}], {value};", "bar.warp.sync 0xffffffff;",
           f"xor.b32 {other}, {p.tid}, 21;", f"mad.lo.u32 {other}, {other}, 4, {p.value('smem')};", f"ld.shared.b32 {value}, [{other}];")
    p.store(value, 4)


def mbarriers():
    p = Probe("mbarrier_state", "mbarrier: init, pending_count, arrive with and without count, test_wait of a state", [], "sm_90", shared=64)
    p.init_barriers({0: 3})
    first, state, count, done = p.first_thread(), p.new("b64", 4), p.new("b32"), p.new("pred")
    place = p.out(64)
    p.emit(f"@!{first} bra OTHERS;")
    for i, text in enumerate(("arrive.shared.b64 {s}, [smem]", "arrive.shared::cta.b64 {s}, [smem], 1", "arrive.release.cta.shared.b64 {s}, [smem]", "arrive.noComplete.shared.b64 {s}, [smem], 2")):
        p.emit(f"mbarrier.{text.format(s=state[i])};", f"mbarrier.pending_count.b64 {count}, {state[i]};", f"st.global.b32 [{p.output}+{place + 4 * i}], {count};")
    for i in range(4):
        p.emit(f"mbarrier.test_wait.shared.b64 {done}, [smem], {state[i]};", f"selp.b32 {count}, 1, 0, {done};", f"st.global.b32 [{p.output}+{place + 16 + 4 * i}], {count};")
    for i in range(2):
        p.emit(f"mbarrier.test_wait.parity.shared::cta.b64 {done}, [smem], {i};", f"selp.b32 {count}, 1, 0, {done};", f"st.global.b32 [{p.output}+{place + 32 + 4 * i}], {count};")
    p.emit("OTHERS:")
    p.sync()
    p.emit(f"@!{first} bra END;", "mbarrier.inval.shared.b64 [smem];", "END:")
    p = Probe("mbarrier_ring", "producer and consumer warps over a ring of two mbarrier pairs, parities over eight rounds", [random(256, 4, 145)], "sm_90", block=64, shared=512)
    p.init_barriers({256: 32, 264: 32, 272: 32, 280: 32})  # full 0, full 1, empty 0, empty 1
    predicate, value, total, slot, lane, address = p.new("pred"), p.new("b32"), p.value(0), p.new("b32"), p.new("b32"), p.new("b64")
    p.emit(f"and.b32 {lane}, {p.tid}, 31;", f"mov.u32 {slot}, smem;", f"mad.lo.u32 {slot}, {lane}, 4, {slot};", f"mad.wide.u32 {address}, {lane}, 4, {p.input};",
           f"setp.lt.u32 {predicate}, {p.tid}, 32;", f"@{predicate} bra PRODUCE;")
    for i in range(8):
        p.wait_barrier(256 + 8 * (i % 2), i // 2 % 2)
        p.emit(f"ld.shared.b32 {value}, [{slot}+{128 * (i % 2)}];", f"mad.lo.u32 {total}, {total}, 31, {value};", f"mbarrier.arrive.shared::cta.b64 _, [smem+{272 + 8 * (i % 2)}];")
    p.emit("bra DONE;", "PRODUCE:")
    for i in range(8):
        p.wait_barrier(272 + 8 * (i % 2), i // 2 % 2 ^ 1)
        p.emit(f"ld.global.b32 {value}, [{address}+{128 * i}];", f"st.shared.b32 [{slot}+{128 * (i % 2)}], {value};", f"mbarrier.arrive.shared::cta.b64 _, [smem+{256 + 8 * (i % 2)}];")
    p.emit("DONE:")
    p.store(total, 4)
    p = Probe("mbarrier_tx", "expect_tx and complete_tx by threads, arrive.expect_tx, arrive_drop", [], "sm_90", shared=64)
    p.init_barriers({0: 2, 8: 2})
    first, flag, done, place = p.first_thread(), p.new("b32"), p.new("pred"), p.out(64)
    step = [0]

    def test(barrier, parity):
        p.emit(f"mbarrier.test_wait.parity.shared::cta.b64 {done}, [smem+{barrier}], {parity};", f"selp.b32 {flag}, 1, 0, {done};", f"st.global.b32 [{p.output}+{place + 4 * step[0]}], {flag};")
        step[0] += 1
    p.emit(f"@!{first} bra END;", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem], 96;")
    test(0, 0)
    p.emit("mbarrier.arrive.shared::cta.b64 _, [smem];")
    test(0, 0)
    p.emit("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [smem], 64;")
    test(0, 0)
    p.emit("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [smem], 32;")
    test(0, 0)
    test(0, 1)
    p.emit("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [smem+8], 16;", "mbarrier.arrive_drop.shared::cta.b64 _, [smem+8];", "mbarrier.arrive.shared::cta.b64 _, [smem+8];")
    test(8, 0)
    p.emit("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [smem+8], 16;")
    test(8, 0)
    p.emit("mbarrier.arrive.shared::cta.b64 _, [smem+8];")  # one arrival is enough now
    test(8, 1)
    p.emit("END:")


def registers():
    p = Probe("setmaxnreg", "setmaxnreg: one warpgroup gives registers, two take them", [random(384, 4, 146)], "sm_90a", block=384, directives=".maxntid 384, 1, 1\n.minnctapersm 1")
    value, predicate = p.load(p.at[0], 4), p.new("pred")
    p.emit(f"setp.lt.u32 {predicate}, {p.tid}, 128;", f"@{predicate} bra GIVE;", "setmaxnreg.inc.sync.aligned.u32 232;", f"mad.lo.u32 {value}, {value}, 3, 1;", "bra DONE;",
           "GIVE:", "setmaxnreg.dec.sync.aligned.u32 40;", f"mad.lo.u32 {value}, {value}, 5, 2;", "DONE:")
    p.store(value, 4)
    p = Probe("grid_control", "griddepcontrol, nanosleep, fences without partner, prefetch: no effect on values", [random(64, 4, 147)], "sm_90", block=64)
    value, address = p.load(p.at[0], 4), p.scaled(p.input, p.tid, 4)
    p.emit("griddepcontrol.launch_dependents;", "griddepcontrol.wait;", "nanosleep.u32 20;", "membar.cta;", "membar.gl;", "membar.sys;", "fence.acq_rel.gpu;", "fence.sc.cta;", "fence.proxy.async;",
           "fence.proxy.async.global;", f"prefetch.global.L2 [{address}];", f"prefetch.global.L1 [{address}];", f"prefetchu.L1 [{address}];", f"add.u32 {value}, {value}, 1;")
    p.store(value, 4)


def add_probes():
    named()
    mbarriers()
    registers()
