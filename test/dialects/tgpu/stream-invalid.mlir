// What the verifier of streams refuses.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

tgpu.kernel @order(%s: tensor<64xf32>) attributes {threads = 128 : i32} {
  // expected-error @+1 {{has events in order, after 0 to 100 percent of its slots}}
  tgpu.stream {
  } at 50 {
  } at 25 {
  }
  tgpu.return
}

// -----

tgpu.kernel @percent(%s: tensor<64xf32>) attributes {threads = 128 : i32} {
  // expected-error @+1 {{has events in order, after 0 to 100 percent of its slots}}
  tgpu.stream {
  } at 101 {
  }
  tgpu.return
}

// -----

tgpu.kernel @count(%s: tensor<64xf32>) attributes {threads = 128 : i32} {
  // expected-error @+1 {{has a percentage for each event}}
  "tgpu.stream"() <{percents = array<i64: 10, 20>}> ({
    tgpu.yield
  }, {
    tgpu.yield
  }) : () -> ()
  tgpu.return
}

// -----

tgpu.kernel @effects(%s: tensor<64x16xf32>) attributes {threads = 128 : i32} {
  %buffer = tgpu.alloc_shared : !tgpu.smem<64x16xf32>
  tgpu.stream {
    // expected-error @+1 {{'tgpu.local_store' op is not element-wise}}
    tgpu.local_store %s, %buffer : tensor<64x16xf32>, !tgpu.smem<64x16xf32>
  }
  tgpu.return
}

// -----

tgpu.kernel @reduction(%s: tensor<64x16xf32>) attributes {threads = 128 : i32} {
  tgpu.stream {
    // expected-error @+1 {{'tile.reduce' op is not element-wise}}
    %m = tile.reduce <max> %s axis 1 : tensor<64x16xf32> -> tensor<64xf32>
  }
  tgpu.return
}

// -----

tgpu.kernel @conversion(%s: tensor<64x16xf32>) attributes {threads = 128 : i32} {
  tgpu.stream {
    // expected-error @+1 {{'tile.convert' op is not element-wise}}
    %h = tile.convert %s : tensor<64x16xf32> to tensor<64x16xf16>
  }
  tgpu.return
}

// -----

tgpu.kernel @scalar(%x: f32) attributes {threads = 128 : i32} {
  tgpu.stream {
    // expected-error @+1 {{'math.exp2' op gives no fragment}}
    %y = math.exp2 %x : f32
  }
  tgpu.return
}

// -----

tgpu.kernel @shapes(%s: tensor<64x16xf32>, %r: tensor<64xf32>) attributes {threads = 128 : i32} {
  tgpu.stream {
    %x = math.exp2 %s : tensor<64x16xf32>
    // expected-error @+1 {{'math.exp2' op has another shape or layout than the tgpu.stream around it}}
    %y = math.exp2 %r : tensor<64xf32>
  }
  tgpu.return
}

// -----

tgpu.kernel @work_in_event(%s: tensor<64x16xf32>) attributes {threads = 128 : i32} {
  tgpu.stream {
  } at 10 {
    // expected-error @+1 {{'math.exp2' op is neither synchronisation nor a scalar for it}}
    %x = math.exp2 %s : tensor<64x16xf32>
  }
  tgpu.return
}

// -----

tgpu.kernel @results(%s: tensor<64x16xf32>) attributes {threads = 128 : i32} {
  // expected-error @+1 {{gives what its body yields, then what its events yield}}
  %x = tgpu.stream {
  } at 10 {
  } : tensor<64x16xf32>
  tgpu.return
}

// -----

!acc = tensor<64x16xf32>
tgpu.kernel @body_uses_event(%s: !acc, %a: !tgpu.pending<!acc>) attributes {threads = 128 : i32} {
  // expected-note @+1 {{}}
  %e, %o = tgpu.stream {
    // expected-error @+1 {{operand #1 does not dominate this use}}
    %x = arith.addf %s, %o : !acc
    tgpu.yield %x : !acc
  } at 10 {
    %w = tgpu.wgmma_wait 0, %a : !tgpu.pending<!acc> -> !acc
    tgpu.yield %w : !acc
  } : !acc, !acc
  tgpu.return
}

// -----

// Regions do not see each other's values: an event comes while slots of the body are missing.
!acc = tensor<64x16xf32>
tgpu.kernel @event_uses_body(%s: !acc) attributes {threads = 128 : i32} {
  %e, %o = tgpu.stream {
    %x = math.exp2 %s : !acc
    tgpu.yield %x : !acc
  } at 10 {
    // expected-error @+1 {{use of undeclared SSA value name}}
    tgpu.yield %x : !acc
  } : !acc, !acc
  tgpu.return
}
