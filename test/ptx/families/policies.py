"""Policies of the L2 cache: what loads and stores take, and cp.async only now and then."""
from families.ptx import Faults, Probe, random

THREADS = 32
# Name: how the policy is made, from {r} (a register of 64 bits) and {base} (the address that it is for).
POLICIES = {
    "first": "createpolicy.fractional.L2::evict_first.b64 {r}, 1.0;",
    "last": "createpolicy.fractional.L2::evict_last.b64 {r}, 1.0;",
    "normal": "createpolicy.fractional.L2::evict_normal.b64 {r}, 1.0;",
    "unchanged": "createpolicy.fractional.L2::evict_unchanged.b64 {r}, 1.0;",
    "half": "createpolicy.fractional.L2::evict_first.b64 {r}, 0.5;",
    "split": "createpolicy.fractional.L2::evict_last.L2::evict_first.b64 {r}, 0.25;",
    "range": "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 {r}, [{base}], 1024, 4096;",
}
# Name: cache operator and bytes of one copy.
COPIES = {"ca4": ("ca", 4), "ca8": ("ca", 8), "ca16": ("ca", 16), "cg16": ("cg", 16)}
# Name: the operand after the size: bytes of the source in a register, or a predicate to ignore the source.
REST = {"": None, "_whole": "{size}", "_part": "{part}", "_none": "{none}", "_ignored": "{ignored}"}


def policy(p, name):
    register = p.new("b64")
    p.emit(POLICIES[name].format(r=register, base=p.input))
    return register


def copy(p, operator, size, rest, policy=None, offset=0):
    """One cp.async of each thread to its place in shared memory."""
    shared, source, base, bytes, wide = p.new("b32"), p.new("b64"), p.new("b32"), p.new("b32"), p.new("b64")
    # One number for both addresses, as a compiler has it: ptxas then keeps the base of the shared one in a uniform register and adds
    # it in the instruction. Beside a policy that is what fails; with the sum in one register (by mad) it does not.
    p.emit(f"mul.lo.u32 {bytes}, {p.tid}, {size};", f"mov.u32 {base}, smem;", f"add.u32 {shared}, {base}, {bytes};",
           f"cvt.u64.u32 {wide}, {bytes};", f"add.u64 {source}, {p.input}, {wide};")
    operands = [f"[{shared}+{offset}]", f"[{source}]", str(size)]
    if rest == "{ignored}":
        ignored = p.new("pred")
        p.emit(f"setp.gt.u32 {ignored}, {p.tid}, 15;")
        operands.append(ignored)
    elif rest:
        operands.append(p.value(rest.format(size=size, part=size // 2 + 1, none=0)))
    hint = ".L2::cache_hint" if policy else ""
    p.emit(f"cp.async.{operator}.shared.global{hint} {', '.join(operands + ([policy] if policy else []))};")


def refused(target):
    """Each form of cp.async with each policy, an entry point each; and one program of the same forms without."""
    inputs = [random(THREADS * 16, 1, 181)]
    probes = {}
    for kind, (operator, size) in COPIES.items():
        for rest, operand in REST.items():
            for name in POLICIES:
                p = probes[f"{kind}{rest}_{name}"] = Probe("", f"cp.async with a policy for L2, code for {target}: every size and cache operator, with and without "
                                                           "a size of the source or a predicate to ignore it, every kind of policy, addresses that share their "
                                                           "offset. PTX documents it; of what ptxas makes of it an H200 runs none",
                                                           inputs, target, block=THREADS, shared=THREADS * 16, listed=False)
                copy(p, operator, size, operand, policy(p, name))
                p.emit("cp.async.wait_all;")
                p.sync()
                p.dump_shared(THREADS * size)
    Faults(f"cp_async_policy_{target}", "CUDA_ERROR_ILLEGAL_INSTRUCTION", probes)
    forms = [(operator, size, operand) for operator, size in COPIES.values() for operand in REST.values()]
    total = sum(THREADS * size for _, size, _ in forms)
    p = Probe(f"cp_async_forms_{target}", f"the forms of cp.async that faults/cp_async_policy_{target}.ptx has with policies, without", inputs, target, block=THREADS, shared=total)
    offset = 0
    for operator, size, operand in forms:
        copy(p, operator, size, operand, offset=offset)
        offset += THREADS * size
    p.emit("cp.async.wait_all;")
    p.sync()
    p.dump_shared(total)


def taken(target):
    """ld and st with each policy and width; L1 hints go round."""
    p = Probe(f"ld_st_policies_{target}", f"ld and st with policies for L2 and hints for L1, code for {target}", [random(THREADS * 16, 1, 182)], target, block=THREADS)
    hints = ["", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate", ".L1::evict_normal"]
    number = 0
    for name in POLICIES:
        register = policy(p, name)
        for vector, kind, width in (("", "b32", 4), ("", "b64", 8), (".v2", "b32", 8), (".v4", "b32", 16)):
            count = int(vector[2:] or 1)
            values = p.new(kind, count)
            text = "{" + ", ".join(values) + "}" if count > 1 else values[0]
            place = p.out(THREADS * width)
            source, target_address = p.scaled(p.input, p.tid, width), p.scaled(p.output, p.tid, width)
            p.emit(f"ld.global{hints[number % 5]}.L2::cache_hint{vector}.{kind} {text}, [{source}], {register};",
                   f"st.global{hints[(number + 2) % 5]}.L2::cache_hint{vector}.{kind} [{target_address}+{place}], {text}, {register};")
            number += 1


def add_probes():
    for target in ("sm_80", "sm_90a"):
        refused(target)
        taken(target)
