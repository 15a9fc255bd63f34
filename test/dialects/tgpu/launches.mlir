// Launches that overlap: the wait stands where every thread comes, in front of all accesses of global memory.
// RUN: tile-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: tgpu.kernel @right
// CHECK-NEXT: tgpu.launch_dependents
// CHECK-NEXT: tgpu.wait_for_launches
tgpu.kernel @right(%x: !tile.global<4xf32> {tgpu.written_before}, %i: i32) attributes {threads = 32 : i32} {
  tgpu.launch_dependents
  tgpu.wait_for_launches
  %v = tile.load %x[%i : i32] : !tile.global<4xf32> -> f32
  tgpu.return
}

// -----

tgpu.kernel @late(%x: !tile.global<4xf32>, %i: i32) attributes {threads = 32 : i32} {
  // expected-note @+1 {{this is one before it}}
  %v = tile.load %x[%i : i32] : !tile.global<4xf32> -> f32
  // expected-error @+1 {{stands in front of every access of global memory}}
  tgpu.wait_for_launches
  tgpu.return
}

// -----

tgpu.kernel @inside(%x: !tile.global<4xf32>, %i: i32, %c: i1) attributes {threads = 32 : i32} {
  // expected-note @+1 {{this is one before it}}
  scf.if %c {
    %v = tile.load %x[%i : i32] : !tile.global<4xf32> -> f32
  }
  // expected-error @+1 {{stands in front of every access of global memory}}
  tgpu.wait_for_launches
  tgpu.return
}

// -----

tgpu.kernel @branch(%c: i1) attributes {threads = 32 : i32} {
  scf.if %c {
    // expected-error @+1 {{expects parent op 'tgpu.kernel'}}
    tgpu.wait_for_launches
  }
  tgpu.return
}
