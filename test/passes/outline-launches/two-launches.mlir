// What was known of operations that went with the first launch is not taken for what the host computes for the second
// one, wherever that stands in memory: nothing is known of these extents and strides.
// RUN: tile-opt %s --tile-outline-launches | FileCheck %s

// CHECK-LABEL: tgpu.kernel @two_1(
// CHECK-SAME: !tile.global<?x?x?x?xf32> {{{[^}]*}}}, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: i64) attributes
tile.kernel @two(%a: !tile.global<?x?x?x?xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "in"}) {
  %one = arith.constant 1 : i32
  %c20 = arith.constant 20 : i64
  %c40 = arith.constant 40 : i64
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %v0 = arith.extsi %i : i32 to i64
    %v1 = arith.muli %v0, %c20 : i64
    %v2 = arith.addi %v1, %c40 : i64
    %v3 = arith.muli %v2, %c20 : i64
    %v4 = arith.addi %v3, %c40 : i64
    %v5 = arith.muli %v4, %c20 : i64
    %v6 = arith.addi %v5, %c40 : i64
    %v7 = arith.muli %v6, %c20 : i64
    %v8 = arith.addi %v7, %c40 : i64
    %v9 = arith.muli %v8, %c20 : i64
    %v10 = arith.addi %v9, %c40 : i64
    %v11 = arith.muli %v10, %c20 : i64
    %v12 = arith.addi %v11, %c40 : i64
    %v13 = arith.muli %v12, %c20 : i64
    %v14 = arith.addi %v13, %c40 : i64
    %v15 = arith.muli %v14, %c20 : i64
    %v16 = arith.addi %v15, %c40 : i64
    %v17 = arith.muli %v16, %c20 : i64
    %v18 = arith.addi %v17, %c40 : i64
    %v19 = arith.muli %v18, %c20 : i64
    %v20 = arith.addi %v19, %c40 : i64
    %v21 = arith.muli %v20, %c20 : i64
    %v22 = arith.addi %v21, %c40 : i64
    %v23 = arith.muli %v22, %c20 : i64
    %v24 = arith.addi %v23, %c40 : i64
    %v25 = arith.muli %v24, %c20 : i64
    %v26 = arith.addi %v25, %c40 : i64
    %v27 = arith.muli %v26, %c20 : i64
    %v28 = arith.addi %v27, %c40 : i64
    %v29 = arith.muli %v28, %c20 : i64
    %v30 = arith.addi %v29, %c40 : i64
    %v31 = arith.muli %v30, %c20 : i64
    %v32 = arith.addi %v31, %c40 : i64
    %v33 = arith.muli %v32, %c20 : i64
    %v34 = arith.addi %v33, %c40 : i64
    %v35 = arith.muli %v34, %c20 : i64
    %v36 = arith.addi %v35, %c40 : i64
    %v37 = arith.muli %v36, %c20 : i64
    %v38 = arith.addi %v37, %c40 : i64
    %v39 = arith.muli %v38, %c20 : i64
    %v40 = arith.addi %v39, %c40 : i64
    %v41 = arith.muli %v40, %c20 : i64
    %t = arith.trunci %v41 : i64 to i32
    %s = tile.splat %t : i32 -> tensor<4xi32>
  }
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %a[%i, %i, %i, %i : i32, i32, i32, i32] : !tile.global<?x?x?x?xf32> -> f32
  }
  tile.return
}
