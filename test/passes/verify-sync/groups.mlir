// Groups of warps that write and store rows of their own meet apart: before they write what a store has read, and behind the fence before
// one thread of each stores. A step that is missing is reported, and so are threads that write or store alone what is the groups'.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

#m = #tgpu.tensor_map<0, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
!f = tensor<128x64xf16, #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!s = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<128x64xf16>
#n = #tgpu.tensor_map<1, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
tgpu.kernel @right(%a: !g, %b: !g, %f: !f, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m, #n]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
      tgpu.tma_store_commit
    }
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store %s to %b {map = 1 : i32} : !s, !g
      tgpu.tma_store_commit
    }

  tgpu.one_thread attributes {groups = 2 : i32} {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// -----

#m = #tgpu.tensor_map<0, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
!f = tensor<128x64xf16, #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!s = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<128x64xf16>
#n = #tgpu.tensor_map<1, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
tgpu.kernel @no_wait(%a: !g, %b: !g, %f: !f, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m, #n]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
      tgpu.barrier {groups = 2 : i32}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-note @+1 {{started here, not waited for}}
      tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
      tgpu.tma_store_commit
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-error @+1 {{uses `staging` while an asynchronous access of it is in flight}}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store %s to %b {map = 1 : i32} : !s, !g
      tgpu.tma_store_commit
    }

  tgpu.one_thread attributes {groups = 2 : i32} {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// -----

#m = #tgpu.tensor_map<0, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
!f = tensor<128x64xf16, #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!s = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<128x64xf16>
#n = #tgpu.tensor_map<1, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
tgpu.kernel @no_meeting_before(%a: !g, %b: !g, %f: !f, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m, #n]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-note @+1 {{read here}}
      tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
      tgpu.tma_store_commit
    }
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    // expected-error @+1 {{writes `staging` without a barrier after another thread's access}}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store %s to %b {map = 1 : i32} : !s, !g
      tgpu.tma_store_commit
    }

  tgpu.one_thread attributes {groups = 2 : i32} {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// -----

#m = #tgpu.tensor_map<0, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
!f = tensor<128x64xf16, #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!s = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<128x64xf16>
#n = #tgpu.tensor_map<1, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
tgpu.kernel @no_fence(%a: !g, %b: !g, %f: !f, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m, #n]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-note @+1 {{written here}}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-error @+1 {{lets the async proxy use `staging` without tgpu.fence_async and a barrier after threads wrote it}}
      tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
      tgpu.tma_store_commit
    }
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-error @+1 {{lets the async proxy use `staging` without tgpu.fence_async and a barrier after threads wrote it}}
      tgpu.tma_store %s to %b {map = 1 : i32} : !s, !g
      tgpu.tma_store_commit
    }

  tgpu.one_thread attributes {groups = 2 : i32} {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// -----

#m = #tgpu.tensor_map<0, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
!f = tensor<128x64xf16, #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!s = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<128x64xf16>
#n = #tgpu.tensor_map<1, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
tgpu.kernel @no_meeting_behind(%a: !g, %b: !g, %f: !f, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m, #n]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-note @+1 {{written here}}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-error @+1 {{reads `staging` without a barrier after another thread's access}}
      tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
      tgpu.tma_store_commit
    }
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-note @+1 {{written here}}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-error @+1 {{reads `staging` without a barrier after another thread's access}}
      tgpu.tma_store %s to %b {map = 1 : i32} : !s, !g
      tgpu.tma_store_commit
    }

  tgpu.one_thread attributes {groups = 2 : i32} {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// -----

#m = #tgpu.tensor_map<0, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
!f = tensor<128x64xf16, #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!s = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<128x64xf16>
#n = #tgpu.tensor_map<1, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
tgpu.kernel @meeting_before_the_fence(%a: !g, %b: !g, %f: !f, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m, #n]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-note @+1 {{written here}}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.barrier {groups = 2 : i32}
    tgpu.fence_async
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-error @+1 {{reads `staging` without a barrier after another thread's access}}
      tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
      tgpu.tma_store_commit
    }
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-note @+1 {{written here}}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.barrier {groups = 2 : i32}
    tgpu.fence_async
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-error @+1 {{reads `staging` without a barrier after another thread's access}}
      tgpu.tma_store %s to %b {map = 1 : i32} : !s, !g
      tgpu.tma_store_commit
    }

  tgpu.one_thread attributes {groups = 2 : i32} {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// -----

#m = #tgpu.tensor_map<0, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
!f = tensor<128x64xf16, #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!s = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<128x64xf16>
#n = #tgpu.tensor_map<1, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
tgpu.kernel @not_drained(%a: !g, %b: !g, %f: !f, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m, #n]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
      tgpu.tma_store_commit
    }
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-error @+1 {{is not waited for before the kernel ends}}
      tgpu.tma_store %s to %b {map = 1 : i32} : !s, !g
      tgpu.tma_store_commit
    }

  tgpu.return
}

// -----

#m = #tgpu.tensor_map<0, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
!f = tensor<128x64xf16, #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!s = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<128x64xf16>
#n = #tgpu.tensor_map<1, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
tgpu.kernel @one_waits(%a: !g, %b: !g, %f: !f, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m, #n]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
      tgpu.one_thread {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-note @+1 {{started here, not waited for}}
      tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
      tgpu.tma_store_commit
    }
    tgpu.one_thread {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-error @+1 {{uses `staging` while an asynchronous access of it is in flight}}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store %s to %b {map = 1 : i32} : !s, !g
      tgpu.tma_store_commit
    }

  tgpu.one_thread attributes {groups = 2 : i32} {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// -----

#m = #tgpu.tensor_map<0, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
!f = tensor<128x64xf16, #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!s = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<128x64xf16>
#n = #tgpu.tensor_map<1, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
tgpu.kernel @one_stores(%a: !g, %b: !g, %f: !f, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m, #n]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
      tgpu.one_thread {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-note @+1 {{written here}}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread {
      // expected-error @+2 {{reads `staging` without a barrier after another thread's access}}
      // expected-note @+1 {{read here}}
      tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
      tgpu.tma_store_commit
    }
    tgpu.one_thread {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-error @+1 {{writes `staging` without a barrier after another thread's access}}
    tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread {
      // expected-error @+1 {{reads `staging` without a barrier after another thread's access}}
      tgpu.tma_store %s to %b {map = 1 : i32} : !s, !g
      tgpu.tma_store_commit
    }

  tgpu.one_thread {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// -----

#m = #tgpu.tensor_map<0, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
!f = tensor<128x64xf16, #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!s = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<128x64xf16>
#n = #tgpu.tensor_map<1, extents = [-65, -129], strides = [-2, -65], box = [64, 64], swizzle = 128>
tgpu.kernel @all_write(%a: !g, %b: !g, %f: !f, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m, #n]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-note @+1 {{written here}}
    tgpu.local_store %f, %s : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-error @+1 {{reads `staging` without a barrier after another thread's access}}
      tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
      tgpu.tma_store_commit
    }
    tgpu.one_thread attributes {groups = 2 : i32} {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier {groups = 2 : i32}
    // expected-error @+1 {{writes `staging` without a barrier after another thread's access}}
    tgpu.local_store %f, %s : !f, !s
    tgpu.fence_async
    tgpu.barrier {groups = 2 : i32}
    tgpu.one_thread attributes {groups = 2 : i32} {
      // expected-error @+1 {{reads `staging` without a barrier after another thread's access}}
      tgpu.tma_store %s to %b {map = 1 : i32} : !s, !g
      tgpu.tma_store_commit
    }

  tgpu.one_thread attributes {groups = 2 : i32} {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// -----

// Groups of four warps write, the groups that meet and store are of eight: rows of one are written by warps of the other.
#m = #tgpu.tensor_map<0, extents = [-65, -65], strides = [-2, -65], box = [64, 32], swizzle = 128>
!f = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
tgpu.kernel @of_other_warps(%a: !g, %f: !f) attributes {threads = 256 : i32, target = "sm_90a", tensor_maps = [#m]} {
  %s = tgpu.alloc_shared "staging" {offset = 0 : i64} : !s
  // expected-note @+1 {{written here}}
  tgpu.local_store %f, %s {groups = 2 : i32} : !f, !s
  tgpu.fence_async
  tgpu.barrier {groups = 2 : i32}
  tgpu.one_thread attributes {groups = 2 : i32} {
    // expected-error @+1 {{reads `staging` without a barrier after another thread's access}}
    tgpu.tma_store %s to %a {map = 0 : i32} : !s, !g
    tgpu.tma_store_commit
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}
