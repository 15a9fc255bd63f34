#!/usr/bin/env python3
"""check_sass.py [CUBIN EXPECTED.json]: do waits, products and exponentials stand where the program has them?

ptxas may move what LLVM printed. CUBIN is disassembled (or already text, as nvdisasm -c prints it), and each kernel that EXPECTED.json
names is compared with what stands there:

    {"attention": {"loops": [["HGMMA 16", "DEPBAR", "MUFU 26 of 66", "BRA", "DEPBAR", "MUFU rest", "F2FP 32"]], "R2UR": 24}}

`loops` are the innermost loops with matrix products, in order; each is a list of classes of instructions. HGMMA (with how many of them) and
DEPBAR, the waits of wgmma, divide the loop into parts and must be those of the loop, in this order, from some place of it on. Of other
classes it is said how many are in their part: `N`; `N of M`, where M are in the loop and the share in the part may differ by 4 points; `rest`:
all that no earlier part has; nothing: one or more. `at most N` counts in the whole loop, wherever it stands. What is not named may be anywhere. R2UR: how many such the loops may have at most, together.
No kernel may load or store local memory, whether it is named or not.

Without arguments it compiles what CHECKED says and all that is shipped, which must have no spills and no message of ptxas either.
nvdisasm is looked for in build/venv (tools/dev/install-deps), in CUDA_HOME, and in PATH. Prints `ok`, or what is wrong and exits with 1.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build/bin"
TOLERANCE = 4  # points
# In tilec's report: what ptxas serialised or ignored, and what it spilled.
BAD = re.compile(r"error:|\bC75\d\d\b|Potential Performance Loss|(?<!\d)[1-9]\d* bytes of spills")
DIVIDERS = ("HGMMA", "DEPBAR")

ATTENTION = ROOT / "test/dialects/tgpu/attention_loop.mlir"
LOWER = "builtin.module(tgpu.kernel(tgpu-allocate-shared,tgpu-verify-sync),convert-tgpu-to-llvm)"
# Scores of a block and sums of the one before in flight, the second wait after 37 % of the exponentials.
PLANNED = ["HGMMA 16", "DEPBAR", "MUFU 26 of 66", "BRA", "DEPBAR", "MUFU rest", "F2FP 32"]
# ptxas moves four of those that stand before, and the two factors, behind the wait where a vote decides whether sums are scaled.
VOTED = ["MUFU 20 of 66" if part == "MUFU 26 of 66" else part for part in PLANNED]
# Steps with a mask, as ptxas puts them: by all columns, by the first half of them.
NARROWED = ["HGMMA 16", "DEPBAR", "MUFU 20", "BRA", "DEPBAR", "MUFU 46", "HGMMA 16", "DEPBAR", "MUFU 13", "BRA", "DEPBAR", "MUFU 24"]
WIDE = ["HGMMA 18", "DEPBAR", "MUFU 31 of 82", "BRA", "DEPBAR", "MUFU rest", "F2FP 40"]


def unmasked(selections):
    """The steps before the first that masks: of the two rows of a thread each selects what stands for the maximum where no key has been
    seen, and with `slack` whether its reference stays."""
    return [f"FSEL at most {selections}", "ISETP at most 2"]


# (source, passes of tile-opt for IR, what is compiled beside all that the source instantiates, what is expected)
CHECKED = [
    (ATTENTION, LOWER, [], {"attention": {"loops": [PLANNED]}}),
    (ROOT / "kernels/gemm/gemm.tile", None, [], {}),
    (ROOT / "kernels/attention/flash_attention.tile", None, ["flash_attention<BN = 160> as checked", "flash_attention<CAUSAL = true> as checked_causal"],
     {f"checked{c}_0": {"loops": [unmasked(selections) + plan, masked], "R2UR": 2}
      for c, plan, masked, selections in (("", WIDE, WIDE, 2), ("_causal", VOTED, NARROWED, 4))}),
]


class Instruction:
    def __init__(self, text):
        words = text.split()
        self.guarded = words[0].startswith("@")
        self.opcode = words[1 if self.guarded else 0].rstrip(";")
        target = re.search(r"`\((\S+)\)", text)
        self.branches = self.opcode.split(".")[0] in ("BRA", "JMP") and bool(target)
        self.target = target[1] if self.branches else None
        # A branch on a predicate may have it as an operand: BRA.U UP0, `(.L_x_1)
        self.conditional = self.guarded or (self.branches and "," in text)
        self.ends = self.opcode.split(".")[0] in ("EXIT", "BRA", "JMP", "RET", "BRX") and not self.conditional

    def kind(self):
        base = self.opcode.split(".")[0]
        if base == "WARPGROUP":
            return "DEPBAR" if "DEPBAR" in self.opcode else base
        return base if base != "DEPBAR" else "DEPBAR.other"


def kernels(listing):
    """Instructions of each kernel, and where its labels stand."""
    result, code, labels = {}, None, None
    for line in listing.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([^\s,]+)", line)
        if section:
            code, labels = [], {}
            result[section[1]] = (code, labels)
        elif re.match(r"\s*\.section\b", line):
            code = None
        elif code is not None:
            label = re.match(r"(\.\w+):", line)
            instruction = re.match(r"\s*/\*[0-9a-f]+\*/\s+(\S.*?)\s*;", line)
            if label:
                labels[label[1]] = len(code)
            elif instruction:
                code.append(Instruction(instruction[1]))
    return result


def blocks_of(code, labels):
    """Basic blocks as (first, end, followers), by first instruction."""
    starts = {0} | {labels[i.target] for i in code if i.branches} | {n + 1 for n, i in enumerate(code) if i.branches or i.ends}
    starts = sorted(s for s in starts if s < len(code))
    blocks = {}
    for first, end in zip(starts, starts[1:] + [len(code)]):
        last = code[end - 1]
        followers = [labels[last.target]] if last.branches else []
        if not last.ends and end < len(code):
            followers.append(end)
        blocks[first] = (end, [f for f in followers if f < len(code)])
    return blocks


def dominators(blocks):
    before = {block: [] for block in blocks}
    for block, (_, followers) in blocks.items():
        for follower in followers:
            before[follower].append(block)
    result = {block: set(blocks) for block in blocks}
    result[0] = {0}
    changed = True
    while changed:
        changed = False
        for block in blocks:
            if block == 0 or not before[block]:
                continue
            now = {block} | set.intersection(*(result[b] for b in before[block]))
            changed |= now != result[block]
            result[block] = now
    return result, before


def natural_loops(blocks):
    """Sets of blocks, by head."""
    over, before = dominators(blocks)
    loops = {}
    for tail, (_, followers) in blocks.items():
        for head in followers:
            if head not in over[tail]:
                continue
            body, open_blocks = loops.setdefault(head, {head}), [tail]
            while open_blocks:
                block = open_blocks.pop()
                if block not in body:
                    body.add(block)
                    open_blocks += before[block]
    return loops


def product_loops(code, labels):
    """The instructions of each innermost loop with matrix products."""
    blocks = blocks_of(code, labels)

    def text(body):
        return [instruction for block in sorted(body) for instruction in code[block : blocks[block][0]]]

    bodies = [body for body in natural_loops(blocks).values() if any(i.kind() == "HGMMA" for i in text(body))]
    inner = [body for body in bodies if not any(other < body for other in bodies)]
    return [text(body) for body in sorted(inner, key=min)]


def parts_of(loop):
    """Dividers with their counts, and how many of each other class stand behind them. Products with only other code between are one."""
    parts = []
    for instruction in loop:
        kind = instruction.kind()
        if kind == "HGMMA" and parts and parts[-1][0] == "HGMMA":
            parts[-1][1] += 1
        elif kind in DIVIDERS:
            parts.append([kind, 1, collections.Counter()])
        else:
            parts[-1][2][kind] += 1
    return parts


def rotations(loop):
    """The loop's parts from each divider on: where it begins in memory means nothing."""
    starts = [n for n, i in enumerate(loop) if i.kind() in DIVIDERS]
    for n in starts:
        yield parts_of(loop[n:] + loop[:n])


def wanted_parts(expected):
    parts = []
    for entry in expected:
        kind, *how = entry.split()
        if kind == "HGMMA" and parts and parts[-1][0] == "HGMMA":
            parts[-1][1] += int(how[0])
        elif kind in DIVIDERS:
            parts.append([kind, int(how[0]) if how else 1, []])
        else:
            parts[-1][2].append((kind, how))
    return parts


def check_part(number, classes, wanted, earlier, total):
    for kind, how in wanted:
        have, all_of = classes[kind], total[kind]
        place = f"{have} {kind} in part {number}"
        if not how and have == 0:
            yield f"{place}, expected some"
        elif how == ["rest"] and earlier[kind] + have != all_of:
            yield f"{place}, {earlier[kind]} before, of {all_of}: others stand behind it"
        elif len(how) == 3:
            few, many = int(how[0]), int(how[2])
            if all_of != many:
                yield f"{all_of} {kind} in the loop, expected {many}"
            elif abs(have / many - few / many) * 100 > TOLERANCE:
                yield f"{place}, which is {100 * have / many:.0f} % of {many}, expected {100 * few / many:.0f} %"
        elif len(how) == 1 and how[0].isdigit() and have != int(how[0]):
            yield f"{place}, expected {how[0]}"


def check_loop(loop, expected):
    wanted = wanted_parts(expected)
    shape = [part[:2] for part in wanted]
    best = None
    for parts in rotations(loop):
        if [part[:2] for part in parts] != shape:
            continue
        total = sum((classes for _, _, classes in parts), collections.Counter())
        problems, earlier = [], collections.Counter()
        for number, ((_, _, classes), (_, _, wishes)) in enumerate(zip(parts, wanted), 1):
            problems += check_part(number, classes, wishes, earlier, total)
            earlier += classes
        if best is None or len(problems) < len(best):
            best = problems
    if best is None:
        have = next(rotations(loop), [])
        return [f"products and waits are {text_of(have)}, expected {', '.join(e for e in expected if e.split()[0] in DIVIDERS)}"]
    return best


def text_of(parts):
    return ", ".join(f"{kind} {count}" if kind == "HGMMA" else kind for kind, count, _ in parts)


def check_kernel(name, code, labels, expected):
    local = sum(i.kind() in ("LDL", "STL") for i in code)
    if local:
        yield f"{name}: {local} accesses of local memory"
    if expected is None:
        return
    loops = product_loops(code, labels)
    if len(loops) != len(expected["loops"]):
        yield f"{name}: {len(loops)} innermost loops with products, expected {len(expected['loops'])}"
        return
    for number, (loop, wanted) in enumerate(zip(loops, expected["loops"]), 1):
        limits = [wish.split(" at most ") for wish in wanted if " at most " in wish]
        for kind, most in limits:
            have = sum(i.kind() == kind for i in loop)
            if have > int(most):
                yield f"{name}, loop {number}: {have} {kind}, expected at most {most}"
        for problem in check_loop(loop, [wish for wish in wanted if " at most " not in wish]):
            yield f"{name}, loop {number}: {problem}"
    moves = sum(i.kind() == "R2UR" for loop in loops for i in loop)
    if "R2UR" in expected and moves > expected["R2UR"]:
        yield f"{name}: {moves} R2UR in its loops, expected at most {expected['R2UR']}"


def check(listings, expected):
    """Of a program in modules, each with a listing."""
    modules = [kernels(listing) for listing in listings]
    for name in sorted(set(expected).difference(*modules)):
        yield f"{name}: there is no such kernel"
    for found in modules:
        for name, (code, labels) in found.items():
            yield from check_kernel(name, code, labels, expected.get(name))


def find_nvdisasm():
    for path in sorted(ROOT.glob("build/venv/lib/python3*/site-packages/nvidia/*/bin/nvdisasm")):
        return path
    for home in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"):
        if home and (pathlib.Path(home) / "bin/nvdisasm").exists():
            return pathlib.Path(home) / "bin/nvdisasm"
    return shutil.which("nvdisasm") or sys.exit("no nvdisasm: tools/dev/install-deps fetches it")


def disassembled(path):
    data = pathlib.Path(path).read_bytes()
    if not data.startswith(b"\x7fELF"):
        return data.decode()
    run = subprocess.run([find_nvdisasm(), "-c", path], capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else sys.exit(f"nvdisasm {path}: {run.stderr}")


def compiled(folder, source, passes=None, more=()):
    """Compiles all that a source asks for, and more; the file, and what ptxas had to say against it."""
    environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}")
    out = folder / "out.pack"
    if passes:
        lowered = folder / "lowered.mlir"
        subprocess.run(["tile-opt", source, f"--pass-pipeline={passes}", "-o", lowered], check=True, env=environment)
        source, out = lowered, folder / "out.cubin"
    run = subprocess.run(["tilec", source, "--arch=sm_90a", "-o", out, "--report", *(x for each in more for x in ("--instantiate", each))], capture_output=True, text=True, env=environment)
    problems = [line for line in run.stderr.splitlines() if BAD.search(line)]
    return out, problems if run.returncode == 0 else problems or [run.stderr]


def cubins(pack):
    """Of a pack, or the cubin itself."""
    if pack.suffix == ".pack":
        subprocess.run([ROOT / "tools/dev/pack_tool.py", "modules", pack, pack.parent], check=True, stdout=subprocess.DEVNULL)
    return sorted(pack.parent.glob("*.cubin"))


def check_all():
    for source, passes, more, expected in CHECKED:
        with tempfile.TemporaryDirectory() as folder:
            out, problems = compiled(pathlib.Path(folder), source, passes, more)
            yield from (f"{source.name}: {problem}" for problem in problems)
            paths = [] if problems else cubins(out)
            if not paths and not problems:
                yield f"{source.name}: no cubin"
            elif paths:
                yield from (f"{source.name}: {problem}" for problem in check(map(disassembled, paths), expected))
    done = {source for source, *_ in CHECKED}
    for source in sorted(set(ROOT.glob("kernels/*/*.tile")) - done):
        with tempfile.TemporaryDirectory() as folder:
            yield from (f"{source.name}: {problem}" for problem in compiled(pathlib.Path(folder), source)[1])


def main():
    if len(sys.argv) not in (1, 3):
        sys.exit(__doc__)
    if len(sys.argv) == 3:
        problems = list(check([disassembled(sys.argv[1])], json.loads(pathlib.Path(sys.argv[2]).read_text())))
    else:
        problems = list(check_all())
    print("\n".join(problems) if problems else "ok")
    sys.exit(1 if problems else 0)


main()
