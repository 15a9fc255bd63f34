// A box of TMA whose rows begin between sectors of 32 bytes, and which a tensor's rows end inside of, takes time for what is left of it: "loads" of
// tensors of 4096 rows, the last dimension taken by one tile.
// RUN: tile-opt %s --tgpu-estimate-cost -o /dev/null 2>&1 | FileCheck %s

!whole = !tile.global<4096x64xf16>
!sectors = !tile.global<4096x48xf16>
!inside = !tile.global<4096x40xf16>
!narrow = !tile.global<4096x40xf16>
!beyond = !tile.global<4096x64xf16>
!thirds = !tile.global<4096x96xf16>

tile.kernel @host(%whole: !whole {tile.name = "whole", tile.direction = "in", tile.dtype = "f16"}, %sectors: !sectors {tile.name = "sectors", tile.direction = "in", tile.dtype = "f16"}, %inside: !inside {tile.name = "inside", tile.direction = "in", tile.dtype = "f16"}, %narrow: !narrow {tile.name = "narrow", tile.direction = "in", tile.dtype = "f16"}, %beyond: !beyond {tile.name = "beyond", tile.direction = "in", tile.dtype = "f16"}, %thirds: !thirds {tile.name = "thirds", tile.direction = "in", tile.dtype = "f16"}) {
  %c1 = arith.constant 1 : i32
  %c132 = arith.constant 132 : i32
  // Boxes that rows fill.
  // CHECK: remark: expected cost: {{.*}}, loads 4.17,
  tgpu.launch "whole" grid(%c132 : i32) args(%whole : !whole)
  // Rows at multiples of 32 bytes.
  // CHECK: remark: expected cost: {{.*}}, loads 6.26,
  tgpu.launch "sectors" grid(%c132 : i32) args(%sectors : !sectors)
  // Rows of 80 bytes, 48 of each box beyond them.
  // CHECK: remark: expected cost: {{.*}}, loads 15.30,
  tgpu.launch "inside" grid(%c132 : i32) args(%inside : !inside)
  // Boxes of 64 bytes, whose rows take two thirds of the time of a line.
  // CHECK: remark: expected cost: {{.*}}, loads 5.83,
  tgpu.launch "narrow" grid(%c132 : i32) args(%narrow : !narrow)
  // Three boxes for each row of the tile, two of them wholly beyond the tensor's: three times as long as a line each.
  // CHECK: remark: expected cost: {{.*}}, loads 28.86,
  tgpu.launch "beyond" grid(%c132 : i32) args(%beyond : !beyond)
  // One block of them: less than a line.
  // CHECK: remark: expected cost: {{.*}}, loads 6.76,
  tgpu.launch "alone" grid(%c1 : i32) args(%beyond : !beyond)
  // Rows of 192 bytes are three boxes of 64, as long as two lines, at multiples of 64.
  // CHECK: remark: expected cost: {{.*}}, loads 12.48,
  tgpu.launch "thirds" grid(%c132 : i32) args(%thirds : !thirds)
  tile.return
}

tgpu.kernel @whole(%a: !whole {tgpu.align = 16 : i64}) attributes {launch = "whole", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %width = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c4096 = arith.constant 4096 : i32
  %view = tgpu.view %a extents(%c4096, %width : i32, i32) strides(%width : i32) : !whole -> !whole
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %tile = tgpu.alloc_shared "tile" : !tgpu.smem<128x64xf16>
  scf.for %i = %c0 to %c32 step %c1 : i32 {
    %row = arith.muli %i, %c128 : i32
    %part = tile.slice %view[%row, %c0] sizes [128, 64] : !whole, i32, i32 -> !tile.global<128x64xf16>
    tgpu.copy %part to %tile {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<128x64xf16>, !tgpu.smem<128x64xf16>
  }
  tgpu.return
}

tgpu.kernel @sectors(%a: !sectors {tgpu.align = 16 : i64}) attributes {launch = "sectors", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %width = arith.constant 48 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c4096 = arith.constant 4096 : i32
  %view = tgpu.view %a extents(%c4096, %width : i32, i32) strides(%width : i32) : !sectors -> !sectors
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %tile = tgpu.alloc_shared "tile" : !tgpu.smem<128x64xf16>
  scf.for %i = %c0 to %c32 step %c1 : i32 {
    %row = arith.muli %i, %c128 : i32
    %part = tile.slice %view[%row, %c0] sizes [128, 64] : !sectors, i32, i32 -> !tile.global<128x64xf16>
    tgpu.copy %part to %tile {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<128x64xf16>, !tgpu.smem<128x64xf16>
  }
  tgpu.return
}

tgpu.kernel @inside(%a: !inside {tgpu.align = 16 : i64}) attributes {launch = "inside", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %width = arith.constant 40 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c4096 = arith.constant 4096 : i32
  %view = tgpu.view %a extents(%c4096, %width : i32, i32) strides(%width : i32) : !inside -> !inside
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %tile = tgpu.alloc_shared "tile" : !tgpu.smem<128x64xf16>
  scf.for %i = %c0 to %c32 step %c1 : i32 {
    %row = arith.muli %i, %c128 : i32
    %part = tile.slice %view[%row, %c0] sizes [128, 64] : !inside, i32, i32 -> !tile.global<128x64xf16>
    tgpu.copy %part to %tile {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<128x64xf16>, !tgpu.smem<128x64xf16>
  }
  tgpu.return
}

tgpu.kernel @narrow(%a: !narrow {tgpu.align = 16 : i64}) attributes {launch = "narrow", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %width = arith.constant 40 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c4096 = arith.constant 4096 : i32
  %view = tgpu.view %a extents(%c4096, %width : i32, i32) strides(%width : i32) : !narrow -> !narrow
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %tile = tgpu.alloc_shared "tile" : !tgpu.smem<128x32xf16>
  scf.for %i = %c0 to %c32 step %c1 : i32 {
    %row = arith.muli %i, %c128 : i32
    %part = tile.slice %view[%row, %c0] sizes [128, 32] : !narrow, i32, i32 -> !tile.global<128x32xf16>
    tgpu.copy %part to %tile {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<128x32xf16>, !tgpu.smem<128x32xf16>
  }
  tgpu.return
}

tgpu.kernel @beyond(%a: !beyond {tgpu.align = 16 : i64}) attributes {launch = "beyond", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %width = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c4096 = arith.constant 4096 : i32
  %view = tgpu.view %a extents(%c4096, %width : i32, i32) strides(%width : i32) : !beyond -> !beyond
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %tile = tgpu.alloc_shared "tile" : !tgpu.smem<128x192xf16>
  scf.for %i = %c0 to %c32 step %c1 : i32 {
    %row = arith.muli %i, %c128 : i32
    %part = tile.slice %view[%row, %c0] sizes [128, 192] : !beyond, i32, i32 -> !tile.global<128x192xf16>
    tgpu.copy %part to %tile {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<128x192xf16>, !tgpu.smem<128x192xf16>
  }
  tgpu.return
}

tgpu.kernel @alone(%a: !beyond {tgpu.align = 16 : i64}) attributes {launch = "alone", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %width = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c4096 = arith.constant 4096 : i32
  %view = tgpu.view %a extents(%c4096, %width : i32, i32) strides(%width : i32) : !beyond -> !beyond
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %tile = tgpu.alloc_shared "tile" : !tgpu.smem<128x192xf16>
  scf.for %i = %c0 to %c32 step %c1 : i32 {
    %row = arith.muli %i, %c128 : i32
    %part = tile.slice %view[%row, %c0] sizes [128, 192] : !beyond, i32, i32 -> !tile.global<128x192xf16>
    tgpu.copy %part to %tile {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<128x192xf16>, !tgpu.smem<128x192xf16>
  }
  tgpu.return
}

tgpu.kernel @thirds(%a: !thirds {tgpu.align = 16 : i64}) attributes {launch = "thirds", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %width = arith.constant 96 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c4096 = arith.constant 4096 : i32
  %view = tgpu.view %a extents(%c4096, %width : i32, i32) strides(%width : i32) : !thirds -> !thirds
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %tile = tgpu.alloc_shared "tile" : !tgpu.smem<128x96xf16>
  scf.for %i = %c0 to %c32 step %c1 : i32 {
    %row = arith.muli %i, %c128 : i32
    %part = tile.slice %view[%row, %c0] sizes [128, 96] : !thirds, i32, i32 -> !tile.global<128x96xf16>
    tgpu.copy %part to %tile {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<128x96xf16>, !tgpu.smem<128x96xf16>
  }
  tgpu.return
}
