// What IR does not say of a tensor's direction it may do: both.
// REQUIRES: tilec
// RUN: tilec %s --arch=sm_90a --emit=manifest -o - | FileCheck %s

// CHECK: "direction": "inout"
// CHECK: "name": "X"
tile.kernel @k(%x: !tile.global<64xf32> {tile.name = "X"}) {
  tile.return
}
