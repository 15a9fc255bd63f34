// A kernel asks for no more than every target has, in attributes that it declares.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{has room for 1 to 32 blocks at least}}
tgpu.kernel @limit_0(%x: i32) attributes {threads = 128 : i32, min_blocks = 33 : i32} {
  tgpu.return
}

// -----

// expected-error @+1 {{has 24 to 255 registers in a thread at most}}
tgpu.kernel @limit_1(%x: i32) attributes {threads = 128 : i32, max_registers = 0 : i32} {
  tgpu.return
}

// -----

// expected-error @+1 {{has at least one block on a multiprocessor}}
tgpu.kernel @limit_2(%x: i32) attributes {threads = 128 : i32, persistent = 0 : i32} {
  tgpu.return
}

// -----

// expected-error @+1 {{has at least one block on a multiprocessor}}
tgpu.kernel @limit_3(%x: i32) attributes {threads = 128 : i32, aimed_blocks = -1 : i32} {
  tgpu.return
}

// -----

// expected-error @+1 {{has a cluster of 1 to 8 blocks}}
tgpu.kernel @limit_4(%x: i32) attributes {threads = 128 : i32, cluster = array<i32: 1, 16>} {
  tgpu.return
}

// -----

// expected-error @+1 {{has no attribute `regsters`}}
tgpu.kernel @limit_5(%x: i32) attributes {threads = 128 : i32, regsters = 1 : i32} {
  tgpu.return
}

// -----

// expected-error @+1 {{attribute 'require' failed to satisfy constraint: string array attribute}}
tgpu.kernel @limit_6(%x: i32) attributes {threads = 128 : i32, require = [1]} {
  tgpu.return
}
