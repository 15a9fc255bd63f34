// Coordinates are those of a thread's slots; elements at computed indices are accessed one by one, under what they need.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#v = #tgpu.fragment<"64 reg 32 lane 1:2:4:8:16 warp -">
#padded = #tgpu.fragment<"48 reg 32 lane 1:2:4:8:16 warp -">

// CHECK-LABEL: llvm.func @gather
// CHECK: %[[LANE:.*]] = llvm.{{and|urem}}
// CHECK: %[[C32:.*]] = llvm.add %{{.*}}, %{{.*}} : i32
// A view has bounds: both elements are under a condition.
// CHECK-NOT: llvm.cond_br
// CHECK-COUNT-2: @$2 ld.global.b32 $0, [$1];
// Shared memory has none.
// CHECK-COUNT-2: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tgpu.kernel @gather(%X: !tile.global<?xf32>, %n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %x = tgpu.view %X extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %b = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
  %c = tgpu.coordinate : tensor<64xi32, #v>
  %i = arith.muli %c, %c : tensor<64xi32, #v>
  %e = tgpu.gather %x[%i] : !tile.global<?xf32>[tensor<64xi32, #v>] -> tensor<64xf32, #v>
  tgpu.scatter %e, %b[%c] : tensor<64xf32, #v>, !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>[tensor<64xi32, #v>]
  tgpu.return
}

// Padding of a layout is no element: it neither reads nor writes. One thread writes a scalar.
// CHECK-LABEL: llvm.func @padding
// CHECK: llvm.cond_br
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: llvm.cond_br
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: llvm.icmp "eq" %{{.*}}, %{{.*}} : i32
// CHECK: llvm.cond_br
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: llvm.return
tgpu.kernel @padding(%f: f32, %k: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %b = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
  %c = tgpu.coordinate : tensor<48xi32, #padded>
  %e = tgpu.gather %b[%c] : !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>[tensor<48xi32, #padded>] -> tensor<48xf32, #padded>
  tgpu.scatter %e, %b[%c] : tensor<48xf32, #padded>, !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>[tensor<48xi32, #padded>]
  tgpu.scatter %f, %b[%k] : f32, !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>[i32]
  tgpu.return
}

// All elements of a tile go to one place: the mask holds for one at most, which is the only one that is written.
// CHECK-LABEL: llvm.func @one_place
// CHECK: llvm.select
// CHECK: llvm.or
// CHECK: llvm.cond_br
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tgpu.kernel @one_place(%k: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %b = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<1xf32, #tgpu.shared<"1 b32 contig 0 panel 1">>
  %c = tgpu.coordinate : tensor<64xi32, #v>
  %e = arith.sitofp %c : tensor<64xi32, #v> to tensor<64xf32, #v>
  %at = tile.splat %k : i32 -> tensor<64xi32, #v>
  %here = arith.cmpi eq, %c, %at : tensor<64xi32, #v>
  tgpu.scatter %e, %b[%c0] if %here : tensor<64xf32, #v>, !tgpu.smem<1xf32, #tgpu.shared<"1 b32 contig 0 panel 1">>[i32] if tensor<64xi1, #v>
  tgpu.return
}
