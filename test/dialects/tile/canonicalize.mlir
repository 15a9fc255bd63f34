// What folds: a slice of the whole, a conversion to the same type, a conversion of a splat.
// RUN: tile-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @whole_slice
// CHECK-SAME: (%[[B:.*]]: !tile.buffer<4x8xf32, shared>)
// CHECK-NEXT: return %[[B]]
func.func @whole_slice(%b: !tile.buffer<4x8xf32, shared>) -> !tile.buffer<4x8xf32, shared> {
  %c0 = arith.constant 0 : i32
  %s = tile.slice %b[%c0, %c0] sizes [4, 8] : !tile.buffer<4x8xf32, shared>, i32, i32 -> !tile.buffer<4x8xf32, shared>
  return %s : !tile.buffer<4x8xf32, shared>
}

// A view of fewer elements stays, even where the type is the same: its bounds are its own.
// CHECK-LABEL: func.func @shifted_slice
// CHECK: tile.slice
func.func @shifted_slice(%g: !tile.global<8xf32>) -> !tile.global<8xf32> {
  %c1 = arith.constant 1 : i32
  %s = tile.slice %g[%c1] sizes [8] : !tile.global<8xf32>, i32 -> !tile.global<8xf32>
  return %s : !tile.global<8xf32>
}

// CHECK-LABEL: func.func @dynamic_slice
// CHECK: tile.slice
func.func @dynamic_slice(%g: !tile.global<?xf32>, %n: i32) -> !tile.global<?xf32> {
  %c0 = arith.constant 0 : i32
  %s = tile.slice %g[%c0] sizes [-9223372036854775808](%n : i32) : !tile.global<?xf32>, i32 -> !tile.global<?xf32>
  return %s : !tile.global<?xf32>
}

// CHECK-LABEL: func.func @same_type
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>)
// CHECK-NEXT: return %[[X]]
func.func @same_type(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = tile.convert %x : tensor<8xf32> to tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @splat
// CHECK: %[[S:.*]] = tile.convert %{{.*}} : f32 to f16
// CHECK: tile.splat %[[S]] : f16 -> tensor<8xf16>
func.func @splat(%x: f32) -> tensor<8xf16> {
  %t = tile.splat %x : f32 -> tensor<8xf32>
  %y = tile.convert %t : tensor<8xf32> to tensor<8xf16>
  return %y : tensor<8xf16>
}
