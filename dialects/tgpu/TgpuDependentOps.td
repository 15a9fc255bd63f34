//===- TgpuDependentOps.td - launches of a call that overlap ---------------===//
#ifndef TILEC_DIALECTS_TGPU_DEPENDENTOPS_TD
#define TILEC_DIALECTS_TGPU_DEPENDENTOPS_TD

include "dialects/tgpu/TgpuDialect.td"

def Tgpu_LaunchDependentsOp : Tgpu_Op<"launch_dependents", [HasParent<"KernelOp">]> {
  let summary = "this block lets the next launch of the call begin (griddepcontrol.launch_dependents)";
  let description = [{ Blocks of the next launch begin once every block of this one has executed it or has ended. }];
  let assemblyFormat = "attr-dict";
}

def Tgpu_WaitForLaunchesOp : Tgpu_Op<"wait_for_launches", [HasParent<"KernelOp">]> {
  let summary = "the thread waits for the launches of the call before this one to end, and sees what they wrote (griddepcontrol.wait)";
  let description = [{
    Executed by every thread: it stands in the kernel's body itself, and in front of it nothing accesses global memory. Passes at
    once in a launch that has begun behind the end of all others. A kernel that has it may be launched before they have ended.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

#endif
