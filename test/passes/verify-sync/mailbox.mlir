// One thread hands numbers to the threads of another role, which read them and give the slot back at once.
// RUN: %python %S/Inputs/remove_each.py %s | FileCheck %s
// CHECK: ok: {{.*}} tgpu.acquire {{.*}} uses a slot of `box` without tgpu.wait on its channel at the same position
// CHECK: ok: {{.*}} tgpu.publish {{.*}} overwrites what it has not handed over: tgpu.publish is missing after it
// CHECK: ok: {{.*}} tgpu.wait {{.*}} uses a slot of `box` without tgpu.wait on its channel at the same position
// CHECK: ok: {{.*}} tgpu.release {{.*}} leaves a slot of `box` waited for and not given back after some of its iterations only
// CHECK: all 10 removals noticed

!ring = !tgpu.smem<2x64xf32, #tgpu.shared<"2x64 b32 contig 1 panel 64">>
!record = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
!ch = !tgpu.channel<2>
tgpu.kernel @mailbox(%x: f32, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %box = tgpu.alloc_shared "box" : !ring
  %ch = tgpu.channel "box" {producers = 1 : i32, consumers = 4 : i32} : !ch
  tgpu.roles role "tiles" warps 4, 4 {
    tgpu.one_thread attributes {warp = 4 : i32} {
      scf.for %p = %c0 to %n step %c1 : i32 {
        tgpu.acquire %ch[%p] : !ch
        %s = tgpu.slot %box[%p] : !ring -> !record
        tgpu.store_element %x, %s[%c0 : i32] : f32, !record
        tgpu.store_element %x, %s[%c1 : i32] : f32, !record
        tgpu.publish %ch[%p] : !ch
      }
    }
  } role "compute" warps 0, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !ch
      %s = tgpu.slot %box[%p] : !ring -> !record
      %a = tgpu.load_element %s[%c0 : i32] : !record -> f32
      %b = tgpu.load_element %s[%c1 : i32] : !record -> f32
      tgpu.release %ch[%p] : !ch
    }
  }
  tgpu.return
}
