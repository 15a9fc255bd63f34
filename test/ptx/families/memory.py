"""Loads, stores, atomics in all spaces."""
from families.ptx import KIND, Probe, listed, random, real


def widths():
    p = Probe("ld_st_global", "ld.global and st.global: widths, sign extension, vectors", [random(8192, 1, 121)], "sm_80", block=64)
    for kind, width in (("u8", 1), ("s8", 1), ("u16", 2), ("s16", 2), ("u32", 4), ("b32", 4), ("u64", 8), ("f32", 4), ("f64", 8)):
        address = p.scaled(p.input, p.tid, width)
        register = p.new("b32" if width <= 4 else "b64")
        p.emit(f"ld.global.{kind} {register}, [{address}];")
        p.store(register, max(width, 4))
    for count, kind, width in ((2, "b32", 4), (4, "b32", 4), (2, "b64", 8), (2, "b16", 2), (4, "b16", 2), (2, "u8", 1), (4, "u8", 1), (4, "f32", 4)):
        address, place = p.scaled(p.input, p.tid, width * count), p.out(64 * width * count)
        target = p.scaled(p.output, p.tid, width * count)
        registers = p.new(KIND[width], count)
        p.emit(f"ld.global.v{count}.{kind} {{{', '.join(registers)}}}, [{address}+16];", f"st.global.v{count}.{kind} [{target}+{place}], {{{', '.join(registers[::-1])}}};")
    p = Probe("ld_st_shared", "ld.shared and st.shared: widths, vectors, neighbours' data", [random(8192, 1, 122)], "sm_80", block=64, shared=2048)
    p.copy_in(p.at[0], 2048)
    p.sync()
    other, base = p.new("b32"), p.new("b32")
    p.emit(f"xor.b32 {other}, {p.tid}, 5;")
    for kind, width in (("u8", 1), ("s8", 1), ("u16", 2), ("s16", 2), ("b32", 4), ("b64", 8)):
        register = p.new("b32" if width <= 4 else "b64")
        p.emit(f"mov.u32 {base}, smem;", f"mad.lo.u32 {base}, {other}, {width}, {base};",
               f"ld.shared.{kind} {register}, [{base}+64];")
        p.store(register, max(width, 4))
    registers = p.new("b32", 4)
    p.emit(f"mov.u32 {base}, smem;", f"mad.lo.u32 {base}, {other}, 16, {base};", f"ld.shared.v4.b32 {{{', '.join(registers)}}}, [{base}];")
    p.sync()
    p.emit(f"st.shared.v2.b32 [{base}], {{{registers[1]}, {registers[0]}}};", f"st.shared.b16 [{base}+8], {p.load(0, 2)};", f"st.shared.b8 [{base}+13], {registers[2]};")
    p.sync()
    p.dump_shared(1024)
    p = Probe("ld_st_modifiers", "cache operators, volatile, relaxed, acquire and release forms", [random(512, 4, 123)], "sm_80", block=64)
    address = p.scaled(p.input, p.tid, 4)
    for form in ("ca", "cg", "cs", "lu", "cv", "nc", "volatile", "relaxed.gpu", "acquire.sys", "acquire.cta", "nc.L1::no_allocate.L2::128B", "L1::evict_last", "L2::64B", "weak"):
        register = p.new("b32")
        text = "ld.volatile.global.b32" if form == "volatile" else f"ld.{form}.global.b32" if form.split(".")[0] in ("relaxed", "acquire", "weak") else \
            f"ld.global.{form}.b32"
        p.emit(f"{text} {register}, [{address}+64];")
        place = p.out(256)
        target = p.scaled(p.output, p.tid, 4)
        store = {"ca": "st.global.wb.b32", "cg": "st.global.cg.b32", "cs": "st.global.cs.b32", "lu": "st.global.wt.b32", "volatile": "st.volatile.global.b32",
                 "relaxed.gpu": "st.relaxed.gpu.global.b32", "acquire.sys": "st.release.sys.global.b32", "acquire.cta": "st.release.cta.global.b32"}.get(form, "st.global.b32")
        p.emit(f"{store} [{target}+{place}], {register};")


def spaces():
    p = Probe("generic", "generic addresses: cvta to and from, isspacep, loads and stores", [random(64, 4, 124)], "sm_80", block=64, shared=256,
              declarations=".global .align 4 .b8 table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};\n.const .align 4 .b32 fixed[4] = {11, 22, 33, 44};\n")
    shared, generic, value, predicate = p.new("b64"), p.new("b64"), p.load(p.at[0], 4), p.new("pred")
    back = p.new("b32")
    p.emit(f"mov.u64 {shared}, smem;", f"cvta.shared.u64 {generic}, {shared};", f"mad.wide.u32 {generic}, {p.tid}, 4, {generic};", f"st.b32 [{generic}], {value};")
    p.sync()
    p.emit(f"xor.b32 {back}, {p.tid}, 3;", f"mad.wide.u32 {shared}, {back}, 4, {shared};", f"ld.shared.b32 {back}, [{shared}];")
    p.store(back, 4)
    table, small = p.new("b64"), p.new("b32")
    p.emit(f"and.b32 {small}, {p.tid}, 3;", f"mov.u64 {table}, table;", f"cvta.global.u64 {table}, {table};", f"mad.wide.u32 {table}, {small}, 4, {table};", f"ld.b32 {back}, [{table}];")
    p.store(back, 4)
    constant = p.new("b64")
    p.emit(f"mov.u64 {constant}, fixed;", f"mad.wide.u32 {constant}, {small}, 4, {constant};", f"ld.const.b32 {back}, [{constant}];")
    p.store(back, 4)
    p.emit(f"ld.const.b32 {back}, [fixed+8];")
    p.store(back, 4)
    for space in ("shared", "global", "local"):
        for address in (generic, table):
            p.emit(f"isspacep.{space} {predicate}, {address};")
            p.store_flag(predicate)
    p = Probe("local", "local memory, indexed by a value that each thread has", [random(64, 4, 125), random(64, 4, 126, **{"and": 15})], "sm_80", block=64)
    value, index, result, address = p.load(p.at[0], 4), p.load(p.at[1], 4), p.new("b32"), p.new("b64")
    p.lines.insert(0, ".local .align 16 .b8 stack[64];")
    for i in range(0, 16, 2):
        p.emit(f"st.local.v2.b32 [stack+{4 * i}], {{{value}, {i}}};", f"add.u32 {value}, {value}, {i + 77};")
    p.emit(f"mov.u64 {address}, stack;", f"mad.wide.u32 {address}, {index}, 4, {address};", f"ld.local.b32 {result}, [{address}];")
    p.store(result, 4)
    p.emit(f"mov.u64 {address}, stack;", f"cvta.local.u64 {address}, {address};", f"mad.wide.u32 {address}, {index}, 4, {address};", f"st.b32 [{address}], 99;", f"ld.local.b32 {result}, [stack+20];")
    p.store(result, 4)
    byte = p.new("b32")
    p.emit(f"st.local.u8 [stack+21], {index};", f"ld.local.b32 {byte}, [stack+20];")
    p.store(byte, 4)


def atomics():
    inputs = [random(128, 4, 127), random(128, 8, 128)]
    p = Probe("atom_global", "atom and red on global memory: operations whose result does not depend on the order", inputs, "sm_80", block=64, grid=2, reads_out=True)
    value, wide, place = p.load(p.at[0], 4), p.load(p.at[1], 8), p.out(256)
    old, old8, slot = p.new("b32"), p.new("b64"), p.new("b64")
    start, one = p.new("pred"), p.new("b32")
    # Four counters each; they start as what `out` is filled with.
    p.emit(f"and.b32 {one}, {p.tid}, 1;", f"mad.wide.u32 {slot}, {one}, 8, {p.output};")
    for i, operation in enumerate(("add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "inc.u32", "dec.u32")):
        p.emit(f"atom.global.{operation} {old}, [{slot}+{place + 16 * i}], {value if i < 6 else 1000};")
    for i, operation in enumerate(("add.u64", "min.s64", "max.u64", "xor.b64")):
        p.emit(f"red.global.{operation} [{slot}+{place + 128 + 16 * i}], {wide};")
    p.emit(f"red.relaxed.gpu.global.add.u32 [{slot}+{place + 192}], 3;", f"atom.acq_rel.gpu.global.add.u32 {old}, [{slot}+{place + 208}], 1;",
           f"setp.ge.u32 {start}, {old}, 0;", f"atom.global.add.u64 {old8}, [{slot}+{place + 224}], {wide};")
    p = Probe("atom_float", "atom and red add of f32, f64, f16x2, bf16x2 and vectors: sums that are exact", [real("f32", 64, 129, 6, -2), listed([0x3C003800, 0xBC004000, 0x40003C00], 4, 64), listed([0x3F80BF80, 0x40003F80], 4, 64)],
              "sm_90", block=64)
    value, pair, brain, place = p.load(p.at[0], 4), p.load(p.at[1], 4), p.load(p.at[2], 4), p.out(96)
    wide, predicate, old = p.new("b64"), p.new("pred"), p.new("b32")
    p.emit(f"setp.ge.u32 {predicate}, {p.tid}, 24;", f"@{predicate} bra ZEROED;", f"mad.wide.u32 {wide}, {p.tid}, 4, {p.output};", f"st.global.b32 [{wide}+{place}], 0;", "ZEROED:")
    p.sync()
    p.emit(f"cvt.f64.f32 {wide}, {value};", f"atom.global.add.f32 {old}, [{p.output}+{place}], {value};", f"red.global.add.f64 [{p.output}+{place + 8}], {wide};",
           f"atom.global.add.noftz.f16x2 {old}, [{p.output}+{place + 16}], {pair};", f"red.global.add.noftz.bf16x2 [{p.output}+{place + 20}], {brain};",
           f"red.global.add.v4.f32 [{p.output}+{place + 32}], {{{value}, {value}, 0f3F800000, {value}}};",
           f"red.global.add.noftz.v2.f16x2 [{p.output}+{place + 48}], {{{pair}, {pair}}};")
    p = Probe("atom_shared", "atom on shared memory; returned values as a set", [random(64, 4, 130), random(64, 8, 131)], "sm_80", block=64, shared=256)
    value, old, flags, slot = p.load(p.at[0], 4), p.new("b32"), p.new("b32"), p.new("b32")
    p.fill_shared(256, 0)
    p.sync()
    p.emit(f"atom.shared.add.u32 {old}, [smem], 1;")
    # Every number below 64 was returned once: thread i marks the place that it was given.
    p.emit(f"mov.u32 {slot}, smem;", f"shr.u32 {flags}, {old}, 5;", f"mad.lo.u32 {slot}, {flags}, 4, {slot};", f"and.b32 {old}, {old}, 31;", f"mov.u32 {flags}, 1;", f"shl.b32 {flags}, {flags}, {old};",
           f"atom.shared.or.b32 {old}, [{slot}+16], {flags};", f"red.shared.max.s32 [smem+32], {value};", f"red.shared.min.u32 [smem+36], {value};",
           f"red.shared.add.f32 [smem+40], 0f3F000000;", f"red.shared.add.u64 [smem+48], {p.load(p.at[1], 8)};", f"red.shared.xor.b32 [smem+56], {value};")
    p.sync()
    p.dump_shared(256)
    p = Probe("atom_exchange", "exch and cas by one thread, and a lock that all threads take", [random(8, 8, 132)], "sm_80", block=64, shared=64, reads_out=True)
    first, old, old8, q = p.first_thread(), p.new("b32"), p.new("b64"), p.new("pred")
    p.fill_shared(64, 0)
    p.sync()
    results = p.out(64)
    p.emit(f"@!{first} bra ALL;", f"atom.shared.exch.b32 {old}, [smem+16], 5;", f"st.global.b32 [{p.output}+{results}], {old};",
           f"atom.shared.cas.b32 {old}, [smem+16], 5, 6;", f"st.global.b32 [{p.output}+{results + 4}], {old};",
           f"atom.shared.cas.b32 {old}, [smem+16], 5, 7;", f"st.global.b32 [{p.output}+{results + 8}], {old};", f"ld.shared.b32 {old}, [smem+16];", f"st.global.b32 [{p.output}+{results + 12}], {old};",
           f"atom.global.exch.b64 {old8}, [{p.output}+{results + 16}], 77;", f"st.global.b64 [{p.output}+{results + 24}], {old8};",
           f"atom.global.cas.b64 {old8}, [{p.output}+{results + 16}], 77, 78;", f"st.global.b64 [{p.output}+{results + 32}], {old8};", "ALL:", "TRY:",
           f"atom.acquire.cta.shared.cas.b32 {old}, [smem], 0, 1;", f"setp.ne.u32 {q}, {old}, 0;", f"@{q} bra TRY;", f"ld.shared.b32 {old}, [smem+32];", f"add.u32 {old}, {old}, {p.tid};",
           f"st.shared.b32 [smem+32], {old};", f"atom.release.cta.shared.exch.b32 {old}, [smem], 0;")
    p.sync()
    p.dump_shared(64)


def add_probes():
    widths()
    spaces()
    atomics()
