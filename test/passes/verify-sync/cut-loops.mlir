// A loop that is cut in two hands the slot that it holds from the first to the second, if the place of the cut is known to be between its bounds.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!f = tensor<64x64xf16>
!t = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// Between the bounds: the second loop begins with the slot that the first has waited for last.
tgpu.kernel @between(%g: !t, %n: i32, %raw: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "load" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %as[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !t, !b, !two
      }
    }
  } role "compute" warps 0, 4 {
    %any = arith.cmpi sgt, %n, %c0 : i32
    scf.if %any {
      tgpu.wait %ch[%c0] : !two
      %above = arith.maxsi %raw, %c1 : i32
      %place = arith.minsi %above, %n : i32
      scf.for %i = %c1 to %place step %c1 : i32 {
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      scf.for %i = %place to %n step %c1 : i32 {
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      %last = arith.subi %n, %c1 : i32
      %s = tgpu.slot %as[%last] : !ring -> !b
      %x = tgpu.local_load %s : !b -> !f
      tgpu.fence_async
      tgpu.release %ch[%last] : !two
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!f = tensor<64x64xf16>
!t = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// The other way around, n is at least 1 here.
tgpu.kernel @turned(%g: !t, %n: i32, %raw: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "load" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %as[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !t, !b, !two
      }
    }
  } role "compute" warps 0, 4 {
    %any = arith.cmpi sgt, %n, %c0 : i32
    scf.if %any {
      tgpu.wait %ch[%c0] : !two
      %below = arith.minsi %raw, %n : i32
      %place = arith.maxsi %below, %c1 : i32
      scf.for %i = %c1 to %place step %c1 : i32 {
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      scf.for %i = %place to %n step %c1 : i32 {
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      %last = arith.subi %n, %c1 : i32
      %s = tgpu.slot %as[%last] : !ring -> !b
      %x = tgpu.local_load %s : !b -> !f
      tgpu.fence_async
      tgpu.release %ch[%last] : !two
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!f = tensor<64x64xf16>
!t = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// The lesser of two that are.
tgpu.kernel @least_of_two(%g: !t, %n: i32, %raw: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "load" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %as[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !t, !b, !two
      }
    }
  } role "compute" warps 0, 4 {
    %any = arith.cmpi sgt, %n, %c0 : i32
    scf.if %any {
      tgpu.wait %ch[%c0] : !two
      %above = arith.maxsi %raw, %c1 : i32
      %first = arith.minsi %above, %n : i32
      %second = arith.maxsi %n, %c1 : i32
      %place = arith.minsi %first, %second : i32
      scf.for %i = %c1 to %place step %c1 : i32 {
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      scf.for %i = %place to %n step %c1 : i32 {
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      %last = arith.subi %n, %c1 : i32
      %s = tgpu.slot %as[%last] : !ring -> !b
      %x = tgpu.local_load %s : !b -> !f
      tgpu.fence_async
      tgpu.release %ch[%last] : !two
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!f = tensor<64x64xf16>
!t = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// Of this place nothing is known: the first loop may end before 1, and the second begin there, or beyond n.
tgpu.kernel @anywhere(%g: !t, %n: i32, %raw: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "a" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "load" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %as[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !t, !b, !two
      }
    }
  } role "compute" warps 0, 4 {
    %any = arith.cmpi sgt, %n, %c0 : i32
    // expected-error @+1 {{leaves a slot of `a` waited for and not given back after one of its sides only}}
    scf.if %any {
      // expected-note @+1 {{waited for here}}
      tgpu.wait %ch[%c0] : !two
      %place = arith.addi %raw, %c1 : i32
      scf.for %i = %c1 to %place step %c1 : i32 {
        // expected-note @+1 {{waited for here}}
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      // expected-error @+1 {{leaves a slot of `a` waited for and not given back after some of its iterations only}}
      scf.for %i = %place to %n step %c1 : i32 {
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        // expected-error @+1 {{gives back a slot of `a` that its threads have not waited for}}
        tgpu.release %ch[%before] : !two
      }
      %last = arith.subi %n, %c1 : i32
      %s = tgpu.slot %as[%last] : !ring -> !b
      // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
      %x = tgpu.local_load %s : !b -> !f
      tgpu.fence_async
      // expected-error @+1 {{gives back a slot of `a` that its threads have not waited for}}
      tgpu.release %ch[%last] : !two
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!f = tensor<64x64xf16>
!t = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// It may be below 1.
tgpu.kernel @below(%g: !t, %n: i32, %raw: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "a" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "load" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %as[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !t, !b, !two
      }
    }
  } role "compute" warps 0, 4 {
    %any = arith.cmpi sgt, %n, %c0 : i32
    // expected-error @+1 {{leaves a slot of `a` waited for and not given back after one of its sides only}}
    scf.if %any {
      // expected-note @+1 {{waited for here}}
      tgpu.wait %ch[%c0] : !two
      %place = arith.minsi %raw, %n : i32
      scf.for %i = %c1 to %place step %c1 : i32 {
        // expected-note @+1 {{waited for here}}
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      // expected-error @+1 {{leaves a slot of `a` waited for and not given back after some of its iterations only}}
      scf.for %i = %place to %n step %c1 : i32 {
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        // expected-error @+1 {{gives back a slot of `a` that its threads have not waited for}}
        tgpu.release %ch[%before] : !two
      }
      %last = arith.subi %n, %c1 : i32
      %s = tgpu.slot %as[%last] : !ring -> !b
      // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
      %x = tgpu.local_load %s : !b -> !f
      tgpu.fence_async
      // expected-error @+1 {{gives back a slot of `a` that its threads have not waited for}}
      tgpu.release %ch[%last] : !two
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!f = tensor<64x64xf16>
!t = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// It may be beyond n: the first loop then has waited for a slot behind the last one.
tgpu.kernel @beyond(%g: !t, %n: i32, %raw: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "a" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "load" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %as[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !t, !b, !two
      }
    }
  } role "compute" warps 0, 4 {
    %any = arith.cmpi sgt, %n, %c0 : i32
    // expected-error @+1 {{leaves a slot of `a` waited for and not given back after one of its sides only}}
    scf.if %any {
      tgpu.wait %ch[%c0] : !two
      %place = arith.maxsi %raw, %c1 : i32
      scf.for %i = %c1 to %place step %c1 : i32 {
        // expected-note @+1 {{waited for here}}
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      scf.for %i = %place to %n step %c1 : i32 {
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      %last = arith.subi %n, %c1 : i32
      %s = tgpu.slot %as[%last] : !ring -> !b
      // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
      %x = tgpu.local_load %s : !b -> !f
      tgpu.fence_async
      // expected-error @+1 {{gives back a slot of `a` that its threads have not waited for}}
      tgpu.release %ch[%last] : !two
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!f = tensor<64x64xf16>
!t = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// It is between 1 and another number.
tgpu.kernel @other_bound(%g: !t, %n: i32, %raw: i32, %other: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "a" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "load" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %as[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !t, !b, !two
      }
    }
  } role "compute" warps 0, 4 {
    %any = arith.cmpi sgt, %n, %c0 : i32
    // expected-error @+1 {{leaves a slot of `a` waited for and not given back after one of its sides only}}
    scf.if %any {
      // expected-note @+1 {{waited for here}}
      tgpu.wait %ch[%c0] : !two
      %above = arith.maxsi %raw, %c1 : i32
      %place = arith.minsi %above, %other : i32
      scf.for %i = %c1 to %place step %c1 : i32 {
        // expected-note @+1 {{waited for here}}
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        tgpu.release %ch[%before] : !two
      }
      // expected-error @+1 {{leaves a slot of `a` waited for and not given back after some of its iterations only}}
      scf.for %i = %place to %n step %c1 : i32 {
        tgpu.wait %ch[%i] : !two
        %before = arith.subi %i, %c1 : i32
        %s = tgpu.slot %as[%before] : !ring -> !b
        // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
        %x = tgpu.local_load %s : !b -> !f
        tgpu.fence_async
        // expected-error @+1 {{gives back a slot of `a` that its threads have not waited for}}
        tgpu.release %ch[%before] : !two
      }
      %last = arith.subi %n, %c1 : i32
      %s = tgpu.slot %as[%last] : !ring -> !b
      // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
      %x = tgpu.local_load %s : !b -> !f
      tgpu.fence_async
      // expected-error @+1 {{gives back a slot of `a` that its threads have not waited for}}
      tgpu.release %ch[%last] : !two
    }
  }
  tgpu.return
}
