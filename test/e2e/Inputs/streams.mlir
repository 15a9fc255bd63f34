// Element-wise work of several types, in streams with events: test/e2e/streams.test runs it, also without the events.
#wide = #tgpu.fragment<"64x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#row = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">
#single = #tgpu.fragment<"128 reg - lane 1:2:4:8:16 warp 32:64">
!f = tensor<64x32xf32, #wide>
!h = tensor<64x32xf16, #wide>
!d = tensor<64x32xf64, #wide>
!b = tensor<64x32xi8, #wide>
!w = tensor<64x32xi32, #wide>
!t = tensor<64x32xi1, #wide>
!r = tensor<64xf32, #row>
!hr = tensor<64xf16, #row>
!s = tensor<128xf32, #single>
!gf = !tile.global<?x32xf32>
!gr = !tile.global<?xf32>
!tf = !tile.global<64x32xf32>
!tr = !tile.global<64xf32>
!ts = !tile.global<128xf32>

tgpu.kernel @streams(%X: !gf, %R: !gr, %Y: !gf, %Z: !gr, %rows: i32, %limit: f32) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c192 = arith.constant 192 : i32
  %c256 = arith.constant 256 : i32
  %vx = tgpu.view %X extents(%rows, %c32 : i32, i32) strides(%c32 : i32) : !gf -> !gf
  %vr = tgpu.view %R extents(%c256 : i32) strides() : !gr -> !gr
  %vy = tgpu.view %Y extents(%c256, %c32 : i32, i32) strides(%c32 : i32) : !gf -> !gf
  %vz = tgpu.view %Z extents(%c128 : i32) strides() : !gr -> !gr
  %gx = tile.slice %vx[%c0, %c0] sizes [64, 32] : !gf, i32, i32 -> !tf
  %gr = tile.slice %vr[%c0] sizes [64] : !gr, i32 -> !tr
  %gs = tile.slice %vr[%c128] sizes [128] : !gr, i32 -> !ts
  %x = tgpu.load %gx : !tf -> !f
  %r = tgpu.load %gr : !tr -> !r
  %single = tgpu.load %gs : !ts -> !s
  %h = tile.convert %x : !f to !h
  %hr = tile.convert %r : !r to !hr
  %d = tile.convert %x : !f to !d
  %b = tile.convert %x : !f to !b
  %w = tile.convert %x : !f to !w
  // What only later code uses.
  %later = math.absf %r : !r

  // Two rows, a constant, a scalar's copies, several results.
  %e:2 = tgpu.stream {
    %rb = tile.broadcast %r along [1] : !r -> !f
    %l = tile.splat %limit : f32 -> !f
    %half = arith.constant dense<0.5> : !f
    %s1 = arith.subf %x, %rb : !f
    %s2 = arith.mulf %s1, %half : !f
    %s3 = arith.minnumf %s2, %l : !f
    tgpu.yield %s3, %s1 : !f, !f
  } at 0 {
    tgpu.barrier
  } at 37 {
    tgpu.barrier
  } at 37 {
    tgpu.cp_async_wait 0
  } at 99 {
    tgpu.barrier
  } at 100 {
  } : !f, !f
  // Halves in pairs; bytes, bits, wide numbers and whole ones; a scalar condition.
  %hs = tgpu.stream {
    %rb = tile.broadcast %hr along [1] : !hr -> !h
    %s1 = arith.mulf %h, %h : !h
    %s2 = arith.addf %s1, %rb : !h
    tgpu.yield %s2 : !h
  } at 30 {
    tgpu.barrier
  } : !h
  %first = arith.cmpi eq, %rows, %c64 : i32
  %ds, %bs, %ts, %ws = tgpu.stream {
    %s1 = arith.mulf %d, %d : !d
    %s2 = arith.muli %b, %b : !b
    %zero = arith.constant dense<0> : !w
    %s3 = arith.cmpi sgt, %w, %zero : !w
    %s4 = arith.select %first, %w, %zero : !w
    tgpu.yield %s1, %s2, %s3, %s4 : !d, !b, !t, !w
  } at 25 {
    tgpu.barrier
  } at 75 {
    tgpu.barrier
  } : !d, !b, !t, !w
  // One slot: no event has any before it.
  %os = tgpu.stream {
    %s1 = arith.mulf %single, %single : !s
    tgpu.yield %s1 : !s
  } at 50 {
    tgpu.barrier
  } : !s

  %hf = tile.convert %hs : !h to !f
  %df = tile.convert %ds : !d to !f
  %bf = tile.convert %bs : !b to !f
  %wf = tile.convert %ws : !w to !f
  %zf = arith.constant dense<0.0> : !f
  %tf = arith.select %ts, %bf, %zf : !t, !f
  %lb = tile.broadcast %later along [1] : !r -> !f
  %y1 = arith.addf %e#0, %lb : !f
  %y2 = arith.addf %hf, %df : !f
  %y3 = arith.addf %tf, %wf : !f
  %g0 = tile.slice %vy[%c0, %c0] sizes [64, 32] : !gf, i32, i32 -> !tf
  %g1 = tile.slice %vy[%c64, %c0] sizes [64, 32] : !gf, i32, i32 -> !tf
  %g2 = tile.slice %vy[%c128, %c0] sizes [64, 32] : !gf, i32, i32 -> !tf
  %g3 = tile.slice %vy[%c192, %c0] sizes [64, 32] : !gf, i32, i32 -> !tf
  tgpu.store %y1, %g0 : !f, !tf
  tgpu.store %e#1, %g1 : !f, !tf
  tgpu.store %y2, %g2 : !f, !tf
  tgpu.store %y3, %g3 : !f, !tf
  %gz = tile.slice %vz[%c0] sizes [128] : !gr, i32 -> !ts
  tgpu.store %os, %gz : !s, !ts
  tgpu.return
}
