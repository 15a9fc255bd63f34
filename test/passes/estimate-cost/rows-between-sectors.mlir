// Results whose rows begin between sectors of 32 bytes take longer to write: memory reads what a sector's other half holds. Every other row does where
// half a sector lies between them, nearly all with less; none where a tile is as wide as the tensor,
// which takes less than tiles of parts of rows, too.
// RUN: tile-opt %s --tgpu-estimate-cost -o /dev/null 2>&1 | FileCheck %s

!whole = !tile.global<8192x8192xf16>
!half = !tile.global<8192x8200xf16>
!odd = !tile.global<8192x8193xf16>

tile.kernel @host(%a: !whole {tile.name = "A", tile.direction = "out", tile.dtype = "f16"}, %b: !half {tile.name = "B", tile.direction = "out", tile.dtype = "f16"},
                  %c: !odd {tile.name = "C", tile.direction = "out", tile.dtype = "f16"}) {
  %c128 = arith.constant 128 : i32
  %c129 = arith.constant 129 : i32
  %c52 = arith.constant 52 : i32
  %c8192 = arith.constant 8192 : i32
  // CHECK: remark: expected cost: {{.*}}, memory 38.42,
  tgpu.launch "sectors" grid(%c128, %c128 : i32, i32) args(%a : !whole)
  // CHECK: remark: expected cost: {{.*}}, memory 59.{{[0-9]+}},
  tgpu.launch "halves" grid(%c129, %c128 : i32, i32) args(%b : !half)
  // CHECK: remark: expected cost: {{.*}}, memory 81.{{[0-9]+}},
  tgpu.launch "elements" grid(%c129, %c128 : i32, i32) args(%c : !odd)
  // CHECK: remark: expected cost: {{.*}}, memory 33.{{[0-9]+}},
  tgpu.launch "rows" grid(%c8192 : i32) args(%b : !half)
  // Rows of 160 elements are no whole lines of 128 bytes: threads store them in pieces, of 64.
  // CHECK: remark: expected cost: {{.*}}, memory 48.{{[0-9]+}},
  tgpu.launch "pieces" grid(%c52, %c128 : i32, i32) args(%a : !whole)
  tile.return
}

tgpu.kernel @sectors(%a: !whole {tgpu.align = 16 : i64}) attributes {launch = "sectors", target = "sm_90a", threads = 128 : i32} {
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c8192 = arith.constant 8192 : i32
  %zero = arith.constant 0.0 : f16
  %view = tgpu.view %a extents(%c8192, %c8192 : i32, i32) strides(%c8192 : i32) : !whole -> !whole
  %id = tgpu.block_id
  %p:2 = tgpu.grid_point %id in(%c128, %c128) : i32, i32
  %row = arith.muli %p#1, %c64 : i32
  %column = arith.muli %p#0, %c64 : i32
  %tile = tile.slice %view[%row, %column] sizes [64, 64] : !whole, i32, i32 -> !tile.global<64x64xf16>
  %value = tile.splat %zero : f16 -> tensor<64x64xf16>
  tgpu.store %value, %tile {bytes = 16 : i32, path = #tgpu.path<tma>} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

tgpu.kernel @halves(%b: !half {tgpu.align = 16 : i64}) attributes {launch = "halves", target = "sm_90a", threads = 128 : i32} {
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c129 = arith.constant 129 : i32
  %c8192 = arith.constant 8192 : i32
  %c8200 = arith.constant 8200 : i32
  %zero = arith.constant 0.0 : f16
  %view = tgpu.view %b extents(%c8192, %c8200 : i32, i32) strides(%c8200 : i32) : !half -> !half
  %id = tgpu.block_id
  %p:2 = tgpu.grid_point %id in(%c129, %c128) : i32, i32
  %row = arith.muli %p#1, %c64 : i32
  %column = arith.muli %p#0, %c64 : i32
  %tile = tile.slice %view[%row, %column] sizes [64, 64] : !half, i32, i32 -> !tile.global<64x64xf16>
  %value = tile.splat %zero : f16 -> tensor<64x64xf16>
  tgpu.store %value, %tile {bytes = 16 : i32, path = #tgpu.path<tma>} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

tgpu.kernel @elements(%c: !odd) attributes {launch = "elements", target = "sm_90a", threads = 128 : i32} {
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c129 = arith.constant 129 : i32
  %c8192 = arith.constant 8192 : i32
  %c8193 = arith.constant 8193 : i32
  %zero = arith.constant 0.0 : f16
  %view = tgpu.view %c extents(%c8192, %c8193 : i32, i32) strides(%c8193 : i32) : !odd -> !odd
  %id = tgpu.block_id
  %p:2 = tgpu.grid_point %id in(%c129, %c128) : i32, i32
  %row = arith.muli %p#1, %c64 : i32
  %column = arith.muli %p#0, %c64 : i32
  %tile = tile.slice %view[%row, %column] sizes [64, 64] : !odd, i32, i32 -> !tile.global<64x64xf16>
  %value = tile.splat %zero : f16 -> tensor<64x64xf16>
  tgpu.store %value, %tile {bytes = 2 : i32, path = #tgpu.path<vector>} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

tgpu.kernel @rows(%b: !half {tgpu.align = 16 : i64}) attributes {launch = "rows", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c8192 = arith.constant 8192 : i32
  %c8200 = arith.constant 8200 : i32
  %zero = arith.constant 0.0 : f16
  %view = tgpu.view %b extents(%c8192, %c8200 : i32, i32) strides(%c8200 : i32) : !half -> !half
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c8192) : i32
  %tile = tile.slice %view[%p, %c0] sizes [-1, 8200] : !half, i32, i32 -> !tile.global<8200xf16>
  %value = tile.splat %zero : f16 -> tensor<8200xf16>
  tgpu.store %value, %tile {bytes = 16 : i32, path = #tgpu.path<vector>} : tensor<8200xf16>, !tile.global<8200xf16>
  tgpu.return
}

tgpu.kernel @pieces(%a: !whole {tgpu.align = 16 : i64}) attributes {launch = "pieces", target = "sm_90a", threads = 128 : i32} {
  %c64 = arith.constant 64 : i32
  %c160 = arith.constant 160 : i32
  %c128 = arith.constant 128 : i32
  %c52 = arith.constant 52 : i32
  %c8192 = arith.constant 8192 : i32
  %zero = arith.constant 0.0 : f16
  %view = tgpu.view %a extents(%c8192, %c8192 : i32, i32) strides(%c8192 : i32) : !whole -> !whole
  %id = tgpu.block_id
  %p:2 = tgpu.grid_point %id in(%c52, %c128) : i32, i32
  %row = arith.muli %p#1, %c64 : i32
  %column = arith.muli %p#0, %c160 : i32
  %tile = tile.slice %view[%row, %column] sizes [64, 160] : !whole, i32, i32 -> !tile.global<64x160xf16>
  %value = tile.splat %zero : f16 -> tensor<64x160xf16>
  tgpu.store %value, %tile {bytes = 16 : i32, path = #tgpu.path<tma>} : tensor<64x160xf16>, !tile.global<64x160xf16>
  tgpu.return
}
