// Barriers around regions of single threads that are missing.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' -split-input-file -verify-diagnostics

!s = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>

tgpu.kernel @before(%x: f32) attributes {threads = 64 : i32} {
  %s = tgpu.alloc_shared "s" {offset = 0 : i64} : !s
  tile.threads [64] {
  ^bb0(%t: i32):
    tgpu.store_element %x, %s[%t : i32] : f32, !s
    tile.sync_threads
    // expected-note@+1 {{written here}}
    tgpu.store_element %x, %s[%t : i32] : f32, !s
  }
  tile.threads [64] {
  ^bb0(%t: i32):
    // expected-error@+1 {{reads `s` without a barrier after another thread's access}}
    %a = tgpu.load_element %s[%t : i32] : !s -> f32
  }
  tgpu.return
}

// -----

tgpu.kernel @printed_in_order() attributes {threads = 64 : i32} {
  tile.threads [64] {
  ^bb0(%t: i32):
    // expected-note@+1 {{written here}}
    tile.print "{}", %t : i32 {place = 0 : i32}
  }
  // expected-error@+1 {{what the block prints}}
  tile.print "after" {place = 1 : i32}
  tgpu.return
}
