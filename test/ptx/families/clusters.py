"""Clusters: other blocks' shared memory, barriers across blocks, multicast."""
from families.ptx import Probe, random
from families.tensors import map_addresses, tensor


class ClusterProbe(Probe):
    def __init__(self, name, what, inputs=(), size=2, shared=1024, grid=None, **rest):
        super().__init__(name, what, inputs, "sm_90", block=rest.pop("block", 64), grid=grid or size, cluster=size, shared=shared, **rest)
        self.rank, self.number = self.value("%cluster_ctarank"), self.value("%ctaid.x")
        self.place = self.new("b32")
        self.emit(f"mad.lo.u32 {self.place}, {self.number}, {self.block}, {self.tid};")

    def cluster_sync(self):
        self.emit("barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;")

    def peer(self, offset=0, step=1):
        """Address in shared::cluster of the block `step` ranks on."""
        rank, local, remote = self.new("b32"), self.shared_address(offset), self.new("b32")
        self.emit(f"add.u32 {rank}, {self.rank}, {step};", f"rem.u32 {rank}, {rank}, {self.cluster};", f"mapa.shared::cluster.u32 {remote}, {local}, {rank};")
        return remote


def addresses():
    p = ClusterProbe("cluster_registers", "special registers of clusters", size=4, grid=8)
    for name in ("cluster_ctaid.x", "cluster_ctarank", "cluster_nctaid.x", "cluster_nctarank", "clusterid.x", "nclusterid.x", "cluster_ctaid.y", "nclusterid.z"):
        p.store(p.value("%" + name), 4, p.place)
    p = ClusterProbe("cluster_load", "mapa, ld.shared::cluster, generic loads from a peer, getctarank", [random(256, 4, 261)], size=4)
    value, slot, offset, other = p.load(p.at[0], 4, p.place), p.value("smem"), p.new("b32"), p.peer()
    generic, result = p.new("b64"), p.new("b32")
    p.emit(f"mad.lo.u32 {slot}, {p.tid}, 4, {slot};", f"st.shared.b32 [{slot}], {value};")
    p.cluster_sync()
    p.emit(f"xor.b32 {offset}, {p.tid}, 9;", f"mad.lo.u32 {other}, {offset}, 4, {other};", f"ld.shared::cluster.b32 {result}, [{other}];")
    p.store(result, 4, p.place)
    p.emit(f"getctarank.shared::cluster.u32 {result}, {other};")
    p.store(result, 4, p.place)
    p.emit(f"mov.u64 {generic}, smem;", f"cvta.shared.u64 {generic}, {generic};", f"mapa.u64 {generic}, {generic}, 2;", f"mad.wide.u32 {generic}, {p.tid}, 4, {generic};", f"ld.b32 {result}, [{generic}];")
    p.store(result, 4, p.place)
    p.emit(f"getctarank.u64 {result}, {generic};")
    p.store(result, 4, p.place)
    p.cluster_sync()
    p = ClusterProbe("cluster_store", "st.shared::cluster and atom.shared::cluster to peers", [random(128, 4, 262)], size=2)
    value, other, counter = p.load(p.at[0], 4, p.place), p.peer(), p.peer(512)
    old = p.new("b32")
    p.fill_shared(1024, 0)
    p.cluster_sync()
    p.emit(f"mad.lo.u32 {other}, {p.tid}, 4, {other};", f"st.shared::cluster.b32 [{other}], {value};", f"atom.shared::cluster.add.u32 {old}, [{counter}], {value};", f"red.shared::cluster.max.u32 [{counter}+4], {value};")
    p.cluster_sync()
    p.dump_shared(1024, rank=p.number)


def barriers():
    p = ClusterProbe("cluster_barrier", "barrier.cluster: relaxed arrival with a fence, acquire; several rounds", [random(128, 4, 263)], size=2)
    value, slot, other, result = p.load(p.at[0], 4, p.place), p.value("smem"), p.peer(), p.new("b32")
    p.emit(f"mad.lo.u32 {slot}, {p.tid}, 4, {slot};", f"mad.lo.u32 {other}, {p.tid}, 4, {other};")
    for form in ("release", "relaxed", ""):
        if form == "relaxed":
            p.emit(f"st.shared.b32 [{slot}], {value};", "fence.acq_rel.cluster;", "barrier.cluster.arrive.relaxed.aligned;", "barrier.cluster.wait.acquire.aligned;")
        else:
            p.emit(f"st.shared.b32 [{slot}], {value};", f"barrier.cluster.arrive{'.release' if form else ''};", "barrier.cluster.wait;")
        p.emit(f"ld.shared::cluster.b32 {result}, [{other}];", f"mad.lo.u32 {value}, {value}, 3, {result};")
        p.cluster_sync()
    p.store(value, 4, p.place)
    p = ClusterProbe("cluster_mbarrier", "arrivals at a peer's mbarrier release data that was stored there", [random(128, 4, 264)], size=2)
    p.init_barriers({512: 64})
    p.cluster_sync()
    value, slot, other, bar, result = p.load(p.at[0], 4, p.place), p.value("smem"), p.peer(), p.peer(512), p.new("b32")
    again, done = p.label(), p.new("pred")
    p.emit(f"mad.lo.u32 {slot}, {p.tid}, 4, {slot};", f"mad.lo.u32 {other}, {p.tid}, 4, {other};", f"st.shared::cluster.b32 [{other}], {value};", f"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{bar}];",
           f"{again}:", f"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 {done}, [smem+512], 0;", f"@!{done} bra {again};", f"xor.b32 {slot}, {slot}, 12;", f"ld.shared.b32 {result}, [{slot}];")
    p.store(result, 4, p.place)
    p.cluster_sync()
    p = ClusterProbe("cluster_st_async", "st.async to a peer, counted by its mbarrier", [random(128, 4, 265)], size=2)
    p.init_barriers({512: 1})
    p.cluster_sync()
    value, slot, other, bar, result = p.load(p.at[0], 4, p.place), p.value("smem"), p.peer(), p.peer(512), p.new("b32")
    first = p.first_thread()
    p.emit(f"@{first} mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+512], 256;", f"mad.lo.u32 {slot}, {p.tid}, 4, {slot};", f"mad.lo.u32 {other}, {p.tid}, 4, {other};",
           f"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [{other}], {value}, [{bar}];")
    p.wait_barrier(512)
    p.emit(f"ld.shared.b32 {result}, [{slot}];")
    p.store(result, 4, p.place)
    p.cluster_sync()


def copies():
    p = ClusterProbe("cluster_bulk", "bulk copy from own shared memory to a peer's", [random(1024, 1, 266)], size=2, shared=1088)
    p.init_barriers({1024: 1})
    other, bar, first, mine = p.peer(512), p.peer(1024), p.first_thread(), p.scaled(p.input, p.number, 512)
    p.fill_shared(1024)
    address, value, slot = p.scaled(mine, p.tid, 8), p.new("b64"), p.value("smem")
    p.sync()
    p.emit(f"mad.lo.u32 {slot}, {p.tid}, 8, {slot};", f"ld.global.b64 {value}, [{address}];", f"st.shared.b64 [{slot}], {value};", "fence.proxy.async.shared::cta;")
    p.cluster_sync()
    p.emit(f"@!{first} bra WAIT;", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+1024], 384;",
           f"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [{other}], [smem], 384, [{bar}];", "WAIT:")
    p.wait_barrier(1024)
    p.dump_shared(1024, rank=p.number)
    p.cluster_sync()
    p = ClusterProbe("cluster_multicast", "TMA multicast: each block loads half of a tile for both, boxes to all and to some", [random(4096, 1, 267)], size=2, shared=3072 + 16, maps=[tensor("in", 0, "f16", [64, 32], [64, 4], 128)])
    p.fill_shared(3072)
    p.emit("fence.proxy.async.shared::cta;")
    p.init_barriers({3072: 1})
    p.cluster_sync()
    maps, first, place, row, mask = map_addresses(p), p.first_thread(), p.shared_address(), p.new("b32"), p.new("b16")
    p.emit(f"@!{first} bra WAIT;", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+3072], 1536;", f"mad.lo.u32 {place}, {p.rank}, 1024, {place};", f"mad.lo.u32 {row}, {p.rank}, 7, 2;", f"mov.u16 {mask}, 3;",
           f"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [{place}], [{maps[0]}, {{0, {row}}}], [smem+3072], {mask};",
           f"mov.u32 {place}, 1;", f"shl.b32 {place}, {place}, {p.rank};", f"xor.b32 {place}, {place}, 3;", f"cvt.u16.u32 {mask}, {place};", f"add.u32 {row}, {row}, 14;",
           f"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [smem+2048], [{maps[0]}, {{0, {row}}}], [smem+3072], {mask};", "WAIT:")
    p.wait_barrier(3072)
    p.dump_shared(3072, rank=p.number)
    p.cluster_sync()
    p = ClusterProbe("cluster_bulk_multicast", "one-dimensional bulk copy to all blocks of a cluster of four", [random(1024, 1, 268)], size=4, shared=1040)
    p.fill_shared(1024)
    p.emit("fence.proxy.async.shared::cta;")
    p.init_barriers({1024: 1})
    p.cluster_sync()
    first, place, source, mask = p.first_thread(), p.shared_address(), p.scaled(p.input, p.rank, 256), p.new("b16")
    p.emit(f"@!{first} bra WAIT;", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem+1024], 1024;", f"mad.lo.u32 {place}, {p.rank}, 256, {place};", f"mov.u16 {mask}, 15;",
           f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [{place}], [{source}], 256, [smem+1024], {mask};", "WAIT:")
    p.wait_barrier(1024)
    p.dump_shared(1024, rank=p.number)
    p.cluster_sync()


def add_probes():
    addresses()
    barriers()
    copies()
