// A named barrier counts the threads that meet there, no others.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

// Right: of each role one, of both roles one, of the block one; an arrival counts, too.
tgpu.kernel @right() attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  tgpu.barrier
  tgpu.roles role "a" warps 0, 4 {
    tgpu.barrier {id = 1 : i32, threads = 128 : i32}
    tgpu.barrier {id = 3 : i32, threads = 256 : i32}
    tgpu.barrier_arrive {id = 4 : i32, threads = 256 : i32}
  } role "b" warps 4, 4 {
    tgpu.barrier {id = 2 : i32, threads = 128 : i32}
    tgpu.barrier {id = 3 : i32, threads = 256 : i32}
    tgpu.barrier {id = 4 : i32, threads = 256 : i32}
  }
  tgpu.return
}

// -----

// Two roles at one barrier that counts one of them: each may let the other go.
// expected-error @+1 {{counts 128 threads at barrier 1, but the roles that meet there have 256}}
tgpu.kernel @shared() attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  tgpu.roles role "a" warps 0, 4 {
    tgpu.barrier {id = 1 : i32, threads = 128 : i32}
  } role "b" warps 4, 4 {
    tgpu.barrier {id = 1 : i32, threads = 128 : i32}
  }
  tgpu.return
}

// -----

// The barrier of the block in a role: nobody else comes.
// expected-error @+1 {{counts 256 threads at barrier 0, but the roles that meet there have 128}}
tgpu.kernel @of_the_block() attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  tgpu.roles role "a" warps 0, 4 {
    tgpu.barrier
  } role "b" warps 4, 4 {
  }
  tgpu.return
}

// -----

tgpu.kernel @two_counts() attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  tgpu.roles role "a" warps 0, 4 {
    tgpu.barrier {id = 1 : i32, threads = 128 : i32}
    // expected-error @+1 {{counts 64 threads, but elsewhere 128 meet at this barrier}}
    tgpu.barrier {id = 1 : i32, threads = 64 : i32}
  } role "b" warps 4, 4 {
  }
  tgpu.return
}
