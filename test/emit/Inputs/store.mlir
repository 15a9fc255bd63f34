// Device code as the LLVM passes leave it: one kernel that stores a number.
module {
  llvm.func @store_0(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    llvm.store %x, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
