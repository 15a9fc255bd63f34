// How often loops run, as the host computes it: of launches with the same body the remark tells the counts apart.
// RUN: tile-opt %s --tgpu-estimate-cost -o /dev/null 2>&1 | FileCheck %s

!g = !tile.global<4096xf32>

tile.kernel @host(%x: !g {tile.name = "X", tile.direction = "in", tile.dtype = "f32"}) {
  %c64 = arith.constant 64 : i32
  // 64 iterations: 0 to 64.
  // CHECK: remark: expected cost: {{.*}}instructions 1.16
  tgpu.launch "whole" grid(%c64 : i32) args(%c64, %x : i32, !g)
  // Up to the block's own number: 32 on the average, half of the work.
  // CHECK: remark: expected cost: {{.*}}instructions 0.57
  tgpu.launch "triangle" grid(%c64 : i32) args(%c64, %x : i32, !g)
  // A bound that memory knows: the range of its type says nothing.
  // CHECK: remark: expected cost: {{.*}}; loops whose length is not known count as 8 iterations
  tgpu.launch "read" grid(%c64 : i32) args(%c64, %x : i32, !g)
  // CHECK: remark: expected cost: {{.*}}; loops whose length is not known count as 8 iterations
  tgpu.launch "until" grid(%c64 : i32) args(%c64, %x : i32, !g)
  tile.return
}

tgpu.kernel @whole(%n: i32 {tgpu.range = array<i64: 0, 64>}, %x: !g) attributes {launch = "whole", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %t = tile.splat %zero : f32 -> tensor<4096xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %t) -> (tensor<4096xf32>) : i32 {
    %a = arith.addf %s, %s : tensor<4096xf32>
    scf.yield %a : tensor<4096xf32>
  }
  tgpu.return
}

tgpu.kernel @triangle(%n: i32 {tgpu.range = array<i64: 0, 64>}, %x: !g) attributes {launch = "triangle", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%n) : i32
  %t = tile.splat %zero : f32 -> tensor<4096xf32>
  %r = scf.for %i = %c0 to %p step %c1 iter_args(%s = %t) -> (tensor<4096xf32>) : i32 {
    %a = arith.addf %s, %s : tensor<4096xf32>
    scf.yield %a : tensor<4096xf32>
  }
  tgpu.return
}

tgpu.kernel @read(%n: i32, %x: !g) attributes {launch = "read", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4096 = arith.constant 4096 : i32
  %zero = arith.constant 0.0 : f32
  %view = tgpu.view %x extents(%c4096 : i32) strides() : !g -> !g
  %f = tile.load %view[%c0 : i32] : !g -> f32
  %bound = arith.fptosi %f : f32 to i32
  %t = tile.splat %zero : f32 -> tensor<4096xf32>
  %r = scf.for %i = %c0 to %bound step %c1 iter_args(%s = %t) -> (tensor<4096xf32>) : i32 {
    %a = arith.addf %s, %s : tensor<4096xf32>
    scf.yield %a : tensor<4096xf32>
  }
  tgpu.return
}

tgpu.kernel @until(%n: i32, %x: !g) attributes {launch = "until", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c4096 = arith.constant 4096 : i32
  %view = tgpu.view %x extents(%c4096 : i32) strides() : !g -> !g
  %zero = arith.constant 0.0 : f32
  scf.while : () -> () {
    %f = tile.load %view[%c0 : i32] : !g -> f32
    %go = arith.cmpf ogt, %f, %zero : f32
    scf.condition(%go)
  } do {
    scf.yield
  }
  tgpu.return
}
