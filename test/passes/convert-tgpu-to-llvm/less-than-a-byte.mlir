// What takes less than a byte in its slot but a byte in memory is not read by ldmatrix, which fills registers with bytes.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#f = #tgpu.fragment<"64x16 reg 0,1:0,2 lane 0,4:0,8:1,0:2,0:4,0 warp 8,0:16,0:32,0">
#s = #tgpu.shared<"64x16 b8 contig 1 panel 16">
!u = !tgpu.smem<64x16xi8, #s>
!b = !tgpu.smem<64x16xi1, #s>
// CHECK-LABEL: llvm.func @bytes
// CHECK: nvvm.ldmatrix
tgpu.kernel @bytes() attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 2048 : i64} {
  %s = tgpu.alloc_shared {offset = 0 : i64} : !u
  %t = tgpu.alloc_shared {offset = 1024 : i64} : !u
  %x = tgpu.local_load %s : !u -> tensor<64x16xi8, #f>
  tgpu.local_store %x, %t : tensor<64x16xi8, #f>, !u
  tgpu.return
}

// CHECK-LABEL: llvm.func @bits
// CHECK-NOT: matrix
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> vector<4xi8>
// CHECK-NOT: matrix
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<4xi8>, !llvm.ptr<3>
tgpu.kernel @bits() attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 2048 : i64} {
  %s = tgpu.alloc_shared {offset = 0 : i64} : !b
  %t = tgpu.alloc_shared {offset = 1024 : i64} : !b
  %x = tgpu.local_load %s : !b -> tensor<64x16xi1, #f>
  tgpu.local_store %x, %t : tensor<64x16xi1, #f>, !b
  tgpu.return
}
