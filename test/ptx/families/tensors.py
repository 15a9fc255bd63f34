"""TMA: tiled loads, stores and reductions through tensor maps."""
from families.ptx import Probe, random, real

BYTES = {"u8": 1, "u16": 2, "f16": 2, "bf16": 2, "u32": 4, "s32": 4, "f32": 4, "u64": 8, "s64": 8, "f64": 8}


def tensor(of, offset, kind, dims, box, swizzle=0, strides=None, element_strides=None, nan_fill=False):
    """A tensor map; dimensions innermost first, packed unless strides (bytes, from dimension 1) are given."""
    if strides is None:
        strides, size = [], BYTES[kind]
        for extent in dims[:-1]:
            size *= extent
            strides.append(size)
    return {"of": of, "offset": offset, "type": kind, "dims": dims, "strides": strides, "box": box,
            "element_strides": element_strides or [1] * len(dims), "swizzle": swizzle, "nan_fill": nan_fill}


def box_bytes(recipe):
    size = BYTES[recipe["type"]]
    for i, (extent, step) in enumerate(zip(recipe["box"], recipe["element_strides"])):
        size *= extent if i == 0 else -(-extent // step)
    return size


def map_addresses(p):
    """Registers with the generic addresses of the map parameters."""
    registers = []
    for i in range(len(p.maps)):
        register = p.new("b64")
        p.emit(f"mov.b64 {register}, map{i};", f"cvta.param.u64 {register}, {register};")
        registers.append(register)
    return registers


def coordinates(values):
    """The innermost must be a multiple of 16 bytes: anything else is an illegal instruction on an H200, and so
    is a store that begins before the tensor."""
    return "{" + ", ".join(map(str, values)) + "}"


def load(name, what, recipes, boxes, shared, inputs=None, options=""):
    """Loads boxes (map, coordinates, place in shared memory) and shows all shared memory: what was not written stays 5A."""
    p = Probe(name, what, inputs or [random(16384, 1, 181)], "sm_90", block=128, shared=shared + 16, maps=recipes)
    p.fill_shared(shared)
    p.to_async()
    p.init_barriers({shared: 1})
    maps, first = map_addresses(p), p.first_thread()
    total = sum(box_bytes(recipes[which]) for which, _, _ in boxes)
    p.emit(f"@!{first} bra WAIT;", f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+{shared}], {total};")
    for which, at, place in boxes:
        p.emit(f"cp.async.bulk.tensor.{len(at)}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [smem+{place}], [{maps[which]}, {coordinates(at)}], [smem+{shared}];")
    p.emit("WAIT:")
    p.wait_barrier(shared)
    p.dump_shared(shared)


def loads():
    load("tma_load_1d", "one dimension: inside, over the end, before the start, of f16 and u8",
         [tensor("in", 0, "f16", [200], [64]), tensor("in", 512, "u8", [1000], [256])],
         [(0, [0], 0), (0, [64], 128), (0, [168], 256), (0, [-24], 384), (1, [48], 512), (1, [896], 768), (1, [2000], 1024)], 1280)
    load("tma_load_2d", "two dimensions, rows longer than the tensor's width: f16", [tensor("in", 0, "f16", [72, 40], [32, 16], strides=[160])],
         [(0, [0, 0], 0), (0, [40, 8], 1024), (0, [48, 29], 2048)], 3072)
    load("tma_load_3d", "three dimensions: f32, parts outside", [tensor("in", 0, "f32", [16, 9, 7], [8, 4, 3])],
         [(0, [0, 0, 0], 0), (0, [8, 5, 4], 384), (0, [12, 7, 5], 768), (0, [-4, -1, -1], 1152)], 1536)
    load("tma_load_4d", "four dimensions: u16", [tensor("in", 0, "u16", [16, 5, 6, 7], [8, 3, 2, 4])], [(0, [0, 0, 0, 0], 0), (0, [8, 2, 4, 3], 384), (0, [-8, 3, 5, 5], 768)], 1152)
    load("tma_load_5d", "five dimensions: u64", [tensor("in", 0, "u64", [4, 5, 3, 4, 6], [2, 2, 3, 2, 2])], [(0, [0, 0, 0, 0, 0], 0), (0, [2, 3, 0, 2, 4], 384), (0, [2, 4, 1, 3, 5], 768)], 1152)
    for swizzle in (32, 64, 128):
        inner = swizzle // 2
        load(f"tma_swizzle_{swizzle}", f"swizzle of {swizzle} bytes: boxes at multiples of 128 bytes of shared memory, over the edge",
             [tensor("in", 0, "f16", [136, 48], [inner, 16], swizzle)],
             [(0, [0, 0], 0), (0, [8, 3], 2048), (0, [120, 40], 4096), (0, [-8, -2], 6144 + 128), (0, [64, 20], 8192 + 384), (0, [72, 1], 10240 + 896)], 13312)
        load(f"tma_narrow_{swizzle}", f"boxes narrower than the swizzle of {swizzle} bytes", [tensor("in", 0, "f16", [64, 40], [8, 12], swizzle), tensor("in", 0, "u8", [128, 40], [16, 8], swizzle)],
             [(0, [0, 0], 0), (0, [56, 30], 2048), (1, [16, 1], 4096)], 6144)
    load("tma_swizzle_types", "swizzles of f32, u8 and f64", [tensor("in", 0, "f32", [64, 20], [32, 8], 128), tensor("in", 0, "u8", [256, 20], [64, 8], 64), tensor("in", 0, "f64", [64, 20], [4, 8], 32)],
         [(0, [4, 2], 0), (1, [16, 5], 1024), (2, [10, 13], 2048)], 3072)
    load("tma_swizzle_3d", "a three-dimensional box of several swizzled panels", [tensor("in", 0, "f16", [64, 20, 4], [64, 8, 2], 128)], [(0, [0, 3, 1], 0), (0, [0, 15, 3], 2048)], 4096)
    load("tma_nan_fill", "places outside filled with NaN: f16, bf16, f32, f64", [tensor("in", 0, kind, [32, 6], [16, 4], nan_fill=True) for kind in ("f16", "bf16", "f32", "f64")],
         [(i, [24, 4], 512 * i) for i in range(4)], 2048)
    load("tma_element_strides", "every second and third element of outer dimensions", [tensor("in", 0, "f16", [32, 40], [16, 12], element_strides=[1, 2]), tensor("in", 0, "f32", [16, 12, 12], [8, 6, 6], element_strides=[1, 3, 2])],
         [(0, [0, 0], 0), (0, [16, 31], 256), (1, [4, 1, 3], 512), (1, [8, 9, 9], 768)], 1024)
    p = Probe("tma_prefetch", "prefetch of a tensor map and of boxes, load with a cache hint", [random(4096, 1, 182)], "sm_90", block=32, shared=1040, maps=[tensor("in", 0, "f16", [64, 32], [64, 8], 128)])
    p.init_barriers({1024: 1})
    maps, first, policy = map_addresses(p), p.first_thread(), p.new("b64")
    p.emit(f"createpolicy.fractional.L2::evict_last.b64 {policy}, 1.0;", f"@!{first} bra WAIT;", f"prefetch.tensormap [{maps[0]}];", f"cp.async.bulk.prefetch.tensor.2d.L2.global.tile [{maps[0]}, {{0, 8}}];",
           "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+1024], 1024;",
           f"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [smem], [{maps[0]}, {{0, 8}}], [smem+1024], {policy};", "WAIT:")
    p.wait_barrier(1024)
    p.dump_shared(1024)


def store(name, what, recipes, boxes, out_bytes, shared, operation=None, inputs=None):
    """Stores (or reduces) boxes (map, coordinates, place in shared memory) from random shared memory; all of `out` is compared."""
    p = Probe(name, what, inputs or [random(shared, 1, 183)], "sm_90", block=128, shared=shared, maps=recipes, reads_out=operation is not None)
    place = 0
    for at, end in zip(p.at, p.at[1:] + [p.in_bytes]):
        p.copy_in(at, end - at, place)
        place += end - at
    p.to_async()
    p.out(out_bytes)
    maps, first = map_addresses(p), p.first_thread()
    p.emit(f"@!{first} bra OTHERS;")
    for i, (which, at, place) in enumerate(boxes):
        kind = operation[i] if operation else None
        head = f"cp.reduce.async.bulk.tensor.{len(at)}d.global.shared::cta.{kind}.tile.bulk_group" if kind else f"cp.async.bulk.tensor.{len(at)}d.global.shared::cta.tile.bulk_group"
        p.emit(f"{head} [{maps[which]}, {coordinates(at)}], [smem+{place}];", "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;")
    p.emit("OTHERS:")


def stores():
    store("tma_store_plain", "stores without swizzle, parts outside left alone: f16, one to three dimensions",
          [tensor("out", 0, "f16", [40, 24], [32, 8]), tensor("out", 2048, "f16", [120], [64]), tensor("out", 2304, "f32", [12, 5, 6], [8, 3, 2])],
          [(0, [0, 0], 0), (0, [24, 12], 512), (0, [16, 20], 1024), (1, [0], 1536), (1, [80], 1664), (2, [0, 0, 0], 0), (2, [8, 4, 5], 256), (2, [4, 3, 2], 512)], 4096, 2048)
    for swizzle in (32, 64, 128):
        store(f"tma_store_{swizzle}", f"stores with a swizzle of {swizzle} bytes, from places at multiples of 128 bytes",
              [tensor("out", 0, "f16", [72, 24], [swizzle // 2, 8], swizzle)], [(0, [0, 0], 0), (0, [56, 8], 1024 + 128), (0, [8, 20], 2048 + 512), (0, [64, 14], 3072 + 896)], 3584, 5120)
    store("tma_store_5d", "stores of five dimensions: u16", [tensor("out", 0, "u16", [8, 3, 4, 3, 5], [8, 2, 2, 2, 2])], [(0, [0, 0, 0, 0, 0], 0), (0, [0, 2, 3, 1, 4], 256), (0, [0, 1, 2, 2, 2], 512)], 3072, 1024)
    integers = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
    store("tma_reduce_u32", "reductions of u32: all operations", [tensor("out", 512 * i, "u32", [16, 8], [16, 6]) for i in range(8)],
          [(i, [4, 1], 128 * i) for i in range(8)], 4096, 1536, integers)
    store("tma_reduce_types", "reductions of s32, u64, s64", [tensor("out", 1024 * i, kind, [8, 8], [8, 8]) for i, kind in enumerate(("s32", "u64", "s64", "s32"))],
          [(0, [0, 0], 0), (1, [0, 0], 512), (2, [0, 1], 0), (3, [0, 0], 256)], 4096, 1024, ("min", "add", "max", "max"))
    kinds = ("f16", "bf16", "f32")
    store("tma_reduce_float", "sums, minima and maxima of f16, bf16, f32; exact sums", [tensor("out", 1024 * i, kind, [16, 8], [16, 8]) for i, kind in enumerate(kinds)],
          [(0, [0, 0], 0), (0, [8, 2], 0), (0, [0, 2], 0), (0, [8, 3], 0), (1, [0, 0], 256), (1, [8, 2], 256), (1, [0, 1], 256), (1, [8, 4], 256), (2, [0, 0], 512), (2, [4, 2], 512)],
          3072, 1024, (None, "add", "max", "min", None, "add", "max", "min", None, "add"),
          [real("f16", 128, 184, 6, -2), real("bf16", 128, 185, 6, -2), real("f32", 128, 186, 6, -2)])


def add_probes():
    loads()
    stores()
