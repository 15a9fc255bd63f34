// tile-opt reads and prints the dialects that kernels are written in; what it prints it reads again.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @double
// CHECK: %[[M:.*]] = tile.dim "M" from %{{.*}}[0]
// CHECK: tile.launch grid(%{{.*}} : i32) threads(128)
// CHECK: tile.alloc "t"
tile.kernel @double(%x: !tile.global<?xf32> {tile.name = "X", tile.dtype = "f32", tile.direction = "in"},
                    %y: !tile.global<?xf32> {tile.name = "Y", tile.dtype = "f32", tile.direction = "out"}) {
  %m = tile.dim "M" from %x[0] : !tile.global<?xf32> -> i32
  %c128 = arith.constant 128 : i32
  %g = arith.ceildivsi %m, %c128 : i32
  tile.launch grid(%g : i32) threads(128) {
  ^bb0(%i: i32):
    %t = tile.alloc "t" : !tile.buffer<128xf32, fragment>
    tile.yield
  }
  tile.return
}
