"""cp.async, bulk copies and bulk reductions, all of one dimension."""
from families.ptx import OUT_FILL, Probe, listed, random, real


def small():
    p = Probe("cp_async", "cp.async of 4, 8 and 16 bytes, with fewer source bytes (the rest is zeros), cache operators", [random(8192, 1, 161), listed([0, 1, 2, 3, 4], 4, 64), listed([0, 5, 8, 13, 16], 4, 64)],
              "sm_80", block=64, shared=4096)
    p.fill_shared(4096)
    p.sync()
    shared, source = p.new("b32"), p.new("b64")
    few4, few16 = p.load(p.at[1], 4), p.load(p.at[2], 4)
    offset = 0
    for form, size, count in (("ca", 4, None), ("ca", 8, None), ("ca", 16, None), ("cg", 16, None), ("cg", 16, few16), ("ca", 4, few4), ("cg", 16, 9), ("cg", 16, 0), ("ca.L2::128B", 16, None), ("cg.L2::64B", 16, None)):
        if offset + 64 * size > 4096:
            p.emit("cp.async.commit_group;", "cp.async.wait_group 0;")
            p.sync()
            p.dump_shared(offset)
            p.sync()
            p.fill_shared(4096)
            p.sync()
            offset = 0
        p.emit(f"mov.u32 {shared}, smem;", f"mad.lo.u32 {shared}, {p.tid}, {size}, {shared};", f"mad.wide.u32 {source}, {p.tid}, {size}, {p.input};",
               f"cp.async.{form.split('.')[0]}.shared.global{'.' + form.split('.')[1] if '.' in form else ''} [{shared}+{offset}], [{source}+{size}], {size}" + (f", {count};" if count is not None else ";"))
        offset += 64 * size
    p.emit("cp.async.wait_all;")
    p.sync()
    p.dump_shared(offset)
    p = Probe("cp_async_groups", "cp.async groups over a ring of three stages: wait_group 1", [random(512, 8, 162)], "sm_80", block=32, shared=1536)
    shared, source, sums, value = p.new("b32"), p.new("b64"), p.new("b32", 4), p.new("b32", 4)
    p.emit(f"mov.u32 {shared}, smem;", f"mad.lo.u32 {shared}, {p.tid}, 16, {shared};", f"mad.wide.u32 {source}, {p.tid}, 16, {p.input};", *[f"mov.b32 {s}, 0;" for s in sums])
    stages, rounds = 3, 8

    def issue(i):
        if i < rounds:
            p.emit(f"cp.async.cg.shared.global [{shared}+{512 * (i % stages)}], [{source}+{512 * i}], 16;")
        p.emit("cp.async.commit_group;")
    issue(0)
    issue(1)
    swapped = p.new("b32")
    p.emit(f"xor.b32 {swapped}, {shared}, 16;")
    for i in range(rounds):
        p.emit("cp.async.wait_group 1;", "bar.warp.sync 0xffffffff;")
        p.emit(f"ld.shared.v4.b32 {{{', '.join(value)}}}, [{swapped}+{512 * (i % stages)}];", *[f"mad.lo.u32 {s}, {s}, 5, {v};" for s, v in zip(sums, value)])
        issue(i + 2)
    p.store_all(sums)
    p = Probe("cp_async_mbarrier", "cp.async.mbarrier.arrive, with and without noinc", [random(128, 8, 163)], "sm_80", block=64, shared=1088)
    skip, predicate = p.label(), p.new("pred")
    p.emit(f"setp.ne.u32 {predicate}, {p.tid}, 0;", f"@{predicate} bra {skip};", "mbarrier.init.shared.b64 [smem+1024], 64;", "mbarrier.init.shared.b64 [smem+1032], 64;", f"{skip}:")
    p.sync()
    shared, source, state, done, again = p.new("b32"), p.new("b64"), p.new("b64"), p.new("pred"), p.label()
    p.emit(f"mov.u32 {shared}, smem;", f"mad.lo.u32 {shared}, {p.tid}, 16, {shared};", f"mad.wide.u32 {source}, {p.tid}, 16, {p.input};", f"cp.async.cg.shared.global [{shared}], [{source}], 16;",
           "cp.async.mbarrier.arrive.noinc.shared.b64 [smem+1024];", "cp.async.mbarrier.arrive.shared.b64 [smem+1032];", f"mbarrier.arrive.shared.b64 {state}, [smem+1032];",
           f"{again}:", f"mbarrier.test_wait.shared.b64 {done}, [smem+1032], {state};", f"@!{done} bra {again};",
           "SECOND:", f"mbarrier.test_wait.parity.shared.b64 {done}, [smem+1024], 0;", f"@!{done} bra SECOND;")
    p.dump_shared(1024)


def bulk():
    p = Probe("bulk_load", "cp.async.bulk from global to shared memory: sizes and places in multiples of 16 bytes", [random(4096, 1, 164)], "sm_90", block=64, shared=4160)
    p.fill_shared(4096)
    p.to_async()
    p.init_barriers({4096: 1})
    pieces = ((0, 0, 16), (32, 80, 48), (128, 16, 1024), (1408, 2048, 2000), (3424, 4080, 16))
    first = p.first_thread()
    p.emit(f"@!{first} bra WAIT;", f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+4096], {sum(s for _, _, s in pieces)};")
    for to, source, size in pieces:
        p.emit(f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem+{to}], [{p.input}+{source}], {size}, [smem+4096];")
    p.emit("WAIT:")
    p.wait_barrier(4096)
    p.dump_shared(4096)
    p = Probe("bulk_store", "cp.async.bulk from shared to global memory, groups, wait_group.read", [random(2048, 1, 165)], "sm_90", block=64, shared=2048)
    p.copy_in(p.at[0], 2048)
    p.to_async()
    first, place = p.first_thread(), p.out(4096)
    p.emit(f"@!{first} bra OTHERS;", f"cp.async.bulk.global.shared::cta.bulk_group [{p.output}+{place}], [smem], 1024;", "cp.async.bulk.commit_group;",
           f"cp.async.bulk.global.shared::cta.bulk_group [{p.output}+{place + 1040}], [smem+1008], 48;", "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group.read 1;",
           "st.shared.b32 [smem], 77;", "cp.async.bulk.wait_group.read 0;", "st.shared.b32 [smem+1008], 78;", "fence.proxy.async.shared::cta;",
           f"cp.async.bulk.global.shared::cta.bulk_group [{p.output}+{place + 2048}], [smem], 1024;", "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;", "OTHERS:")
    p = Probe("bulk_prefetch", "cp.async.bulk.prefetch, with and without a cache hint; bulk load with a hint", [random(1024, 1, 166)], "sm_90", block=64, shared=1088)
    p.init_barriers({1024: 1})
    first, policy = p.first_thread(), p.new("b64")
    p.emit(f"createpolicy.fractional.L2::evict_first.b64 {policy}, 1.0;", f"@!{first} bra WAIT;", f"cp.async.bulk.prefetch.L2.global [{p.input}], 1024;",
           f"cp.async.bulk.prefetch.L2.global.L2::cache_hint [{p.input}], 1024, {policy};", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+1024], 1024;",
           f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [smem], [{p.input}], 1024, [smem+1024], {policy};", "WAIT:")
    p.wait_barrier(1024)
    p.dump_shared(1024)


def reductions():
    p = Probe("bulk_reduce", "cp.reduce.async.bulk to global memory: integers and floats", [random(1024, 1, 167), real("f16", 128, 168, 6, -2), real("bf16", 128, 169, 6, -2), real("f32", 64, 170, 6, -2)],
              "sm_90", block=64, shared=2048, reads_out=True)
    for i, size in enumerate((1024, 256, 256, 256)):
        p.copy_in(p.at[i], size, (0, 1024, 1280, 1536)[i])
    p.fill_shared(256, 0, 1792)
    p.to_async()
    first = p.first_thread()
    integers = ["add.u32", "add.s32", "add.u64", "min.u32", "max.s32", "min.s64", "max.u64", "and.b32", "or.b64", "xor.b32", "inc.u32", "dec.u32"]
    place = p.out(256 * (len(integers) + 5))
    p.emit(f"@!{first} bra OTHERS;")
    for i, operation in enumerate(integers):
        p.emit(f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [{p.output}+{place + 256 * i}], [smem+{256 * (i % 4)}], 256;")
    p.emit("cp.async.bulk.commit_group;")
    for i, (operation, source) in enumerate((("add.noftz.f16", 1024), ("max.f16", 1024), ("min.bf16", 1280), ("add.noftz.bf16", 1280), ("add.f32", 1536))):
        target = f"[{p.output}+{place + 256 * (len(integers) + i)}]"
        p.emit(f"cp.async.bulk.global.shared::cta.bulk_group {target}, [smem+1792], 256;", "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;",
               f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} {target}, [smem+{source}], 256;", "cp.async.bulk.commit_group;")
    p.emit("cp.async.bulk.wait_group 0;", "OTHERS:")
    assert OUT_FILL == 0xCD


def add_probes():
    small()
    bulk()
    reductions()
