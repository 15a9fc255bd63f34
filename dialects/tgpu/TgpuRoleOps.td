//===- TgpuRoleOps.td - operations of the tgpu dialect for roles of warps ===//
#ifndef TGPU_ROLE_OPS_TD
#define TGPU_ROLE_OPS_TD

def Tgpu_RolesOp : Tgpu_Op<"roles", [NoTerminator, RecursiveMemoryEffects]> {
  let summary = "different programs for different warps of the block";
  let description = [{
    Region i is run by warps [first_warps[i], first_warps[i] + num_warps[i]) with `registers[i]` registers for each thread
    (0: as at entry). The ranges are disjoint; setmaxnreg needs whole warpgroups. Fragments defined outside are not
    visible inside: what a role needs it loads or computes, roles talk through channels and named barriers.

    One role may be run by several teams of num_warps[i] warps each, side by side in the block (`teams[i]`). The region is the
    program of one team: what it says of all its threads (barriers, releases, one_thread, layouts) holds for those of the team.
    Slots of channels that other roles fill or read are each the turn of one team, which its program decides by `tgpu.team`;
    buffers that only this role uses each team has for itself, `team_bytes` apart once they are allocated.
  }];
  let arguments = (ins StrArrayAttr:$names, DenseI32ArrayAttr:$first_warps, DenseI32ArrayAttr:$num_warps,
                       DenseI32ArrayAttr:$teams, DenseI32ArrayAttr:$registers, OptionalAttr<I64Attr>:$team_bytes);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of the role that has several teams.
    std::optional<unsigned> getRoleOfTeams();
    /// All warps of a role.
    int32_t getAllWarps(unsigned role) { return getNumWarps()[role] * getTeams()[role]; }
    /// The role that `op` is in.
    unsigned getRoleOf(::mlir::Operation *op);
  }];
}

def Tgpu_OneThreadOp : Tgpu_Op<"one_thread", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "run by one thread, the elected lane of warp `warp`; the others go on";
  let description = [{
    Of several `groups` of neighbouring warps, as many in each, by one thread of each; `warp` is that of the first group.
  }];
  let arguments = (ins DefaultValuedAttr<I32Attr, "0">:$warp, DefaultValuedAttr<I32Attr, "1">:$groups);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}

class Tgpu_TurnOp<string name> : Tgpu_Op<name> {
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<2>, IntMaxValue<4>]>:$groups);
  let assemblyFormat = "`of` $groups attr-dict";
}

def Tgpu_AwaitTurnOp : Tgpu_TurnOp<"await_turn"> {
  let summary = "waits for the turn of the calling one of `groups` warpgroups that compute";
}
def Tgpu_PassTurnOp : Tgpu_TurnOp<"pass_turn"> {
  let summary = "gives the turn to the warpgroup behind the calling one, behind the last to the first";
}

def Tgpu_TeamOp : Tgpu_Op<"team", [Pure, Tgpu_Ranged]> {
  let summary = "number of the calling team in the role of several teams, uniform over the warp; in other roles without meaning";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

#endif
