// A stream prints as it is read: its body, events after percentages of its slots, results of both.
// RUN: tile-opt %s -o %t
// RUN: tile-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | diff %t -

#acc = #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#row = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">
!acc = tensor<64x16xf32, #acc>
!row = tensor<64xf32, #row>
!ch = !tgpu.channel<2>

// CHECK-LABEL: tgpu.kernel @streams
tgpu.kernel @streams(%s: !acc, %r: !row, %a: !tgpu.pending<!acc>, %n: i32) attributes {threads = 128 : i32} {
  %ch = tgpu.channel {producers = 1 : i32, consumers = 4 : i32} : !ch
  // CHECK: %{{.*}}:3 = tgpu.stream {
  // CHECK: tile.broadcast
  // CHECK: tgpu.yield %{{.*}}, %{{.*}} : tensor<64x16xf32
  // CHECK: } at 25 {
  // CHECK: %[[P:.*]] = arith.addi
  // CHECK-NEXT: tgpu.wait %{{.*}}[%[[P]]]
  // CHECK-NEXT: } at 37 {
  // CHECK-NEXT: tgpu.wgmma_wait 0
  // CHECK-NEXT: tgpu.release
  // CHECK-NEXT: tgpu.yield
  // CHECK-NEXT: } {tile.require = ["mark"]} : tensor<64x16xf32, {{.*}}>, tensor<64x16xf32, {{.*}}>, tensor<64x16xf32
  %e, %x, %o = tgpu.stream {
    %b = tile.broadcast %r along [1] : !row -> !acc
    %x1 = arith.subf %s, %b : !acc
    %e1 = math.exp2 %x1 : !acc
    tgpu.yield %e1, %x1 : !acc, !acc
  } at 25 {
    %c1 = arith.constant 1 : i32
    %p = arith.addi %n, %c1 : i32
    tgpu.wait %ch[%p] : !ch
  } at 37 {
    %w = tgpu.wgmma_wait 0, %a : !tgpu.pending<!acc> -> !acc
    tgpu.release %ch[%n] : !ch
    tgpu.yield %w : !acc
  } {tile.require = ["mark"]} : !acc, !acc, !acc
  // One without events, and one of events alone.
  // CHECK: tgpu.stream {
  // CHECK-NEXT: math.exp2
  // CHECK-NEXT: tgpu.yield
  // CHECK-NEXT: } : tensor
  %f = tgpu.stream {
    %y = math.exp2 %s : !acc
    tgpu.yield %y : !acc
  } : !acc
  // CHECK: tgpu.stream {
  // CHECK-NEXT: } at 0 {
  // CHECK-NEXT: tgpu.barrier
  // CHECK-NEXT: }
  tgpu.stream {
  } at 0 {
    tgpu.barrier
  }
  tgpu.return
}
