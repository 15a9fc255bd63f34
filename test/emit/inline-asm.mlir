// Inline assembly with effects becomes convergent, other inline assembly is said to touch no memory.
// REQUIRES: tilec
// RUN: tilec %s --emit=llvm | FileCheck %s
// CHECK: call void asm sideeffect "bar.sync 0;", ""() #[[SYNC:[0-9]+]]
// CHECK: call i32 asm "mov.u32 $0, %laneid;", "=r"() #[[PURE:[0-9]+]]
// CHECK-DAG: attributes #[[SYNC]] = { convergent nounwind }
// CHECK-DAG: attributes #[[PURE]] = { nounwind willreturn memory(none) }
module {
  llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
    llvm.inline_asm has_side_effects "bar.sync 0;", "" : () -> ()
    %lane = llvm.inline_asm "mov.u32 $0, %laneid;", "=r" : () -> i32
    llvm.store %lane, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}
