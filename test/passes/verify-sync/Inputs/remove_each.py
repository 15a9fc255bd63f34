"""Takes each synchronising operation out of a kernel, or weakens it, one at a time, and checks that tgpu-verify-sync then refuses it.

remove_each.py FILE [PASS-PIPELINE]: FILE must verify as it is. Weaker is: one position earlier, one group more that may be incomplete,
reading instead of completeness, half of the threads or bytes, another proxy fence, one arrival less. A wait that gives results is only weakened; one that
keeps the fragments of its products also loses them. A line that ends in `// redundant` must verify without it too. Prints a table of what was refused, and why.
"""
import re
import subprocess
import sys

PIPELINE = "builtin.module(tgpu.kernel(tgpu-verify-sync))"
REMOVED = re.compile(
    r"^\s*tgpu\.(acquire|publish|wait|release|expect|barrier|barrier_arrive|fence_async|tma_load|tma_store_commit|"
    r"tma_store_wait|cp_async_commit|cp_async_wait|wgmma_fence|wgmma_commit|wgmma_wait)\b"
)
KEPT = re.compile(r" reads %[^{]*")
GROUPS = re.compile(r"tgpu\.(?:wgmma_wait|cp_async_wait|tma_store_wait) (\d+)")
POSITION = re.compile(r"^(\s*tgpu\.(?:acquire|publish|wait|release|expect) %\w+)\[(%\w+)\](.*)")
NUMBER = re.compile(r"\b(threads|bytes|producers|consumers) (=? ?)(\d+)")


def refusal(lines):
    """The first error for a kernel, or None if it verifies."""
    command = ["tile-opt", "-", "--pass-pipeline=" + PIPELINE, "-o", "/dev/null"]
    run = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    if run.returncode == 0:
        return None
    errors = re.findall(r"error: (.*)", run.stderr)
    return errors[0] if errors else "crash: " + run.stderr[:500]


def weaker(line):
    """What may stand instead of a line that should not."""
    if found := GROUPS.search(line):
        yield line[: found.start(1)] + str(int(found[1]) + 1) + line[found.end(1) :]
    if "tma_store_wait" in line and "read" not in line:
        yield line + " {read}"
    if "wgmma_wait" in line and KEPT.search(line):
        yield KEPT.sub("", line)
    if found := POSITION.match(line):
        yield (f"%weaker_one = arith.constant 1 : i32\n%weaker = arith.subi {found[2]}, %weaker_one : i32\n"
               f"{found[1]}[%weaker]{found[3]}")
    if re.match(r"\s*tgpu\.barrier$", line):
        yield line + " {id = 9 : i32, threads = 32 : i32}"
    if re.match(r"\s*tgpu\.(barrier|expect)\b", line) and (found := NUMBER.search(line)):
        yield line[: found.start(3)] + str(int(found[3]) // 2) + line[found.end(3) :]
    if re.match(r"\s*tgpu\.fence_async\b", line):
        yield line.replace(" {global}", "") if "global" in line else line + " {global}"
    if "= tgpu.channel " in line:
        for found in NUMBER.finditer(line):
            if found[3] != "0":
                yield line[: found.start(3)] + str(int(found[3]) - 1) + line[found.end(3) :]


def mutants(lines):
    for index, line in enumerate(lines):
        if line.strip().startswith("//"):
            continue
        if REMOVED.match(line):
            yield index, lines[:index] + lines[index + 1 :]
            if line.endswith("// redundant"):
                continue
        for other in weaker(line):
            yield index, lines[:index] + [other] + lines[index + 1 :]


def main():
    lines = open(sys.argv[1]).read().split("\n")
    problem = refusal(lines)
    if problem:
        sys.exit(f"the kernel itself is refused: {problem}")
    failed = False
    count = 0
    for index, mutant in mutants(lines):
        error = refusal(mutant)
        count += 1
        redundant = lines[index].endswith("// redundant")
        wrong = (error is not None) if redundant else (error is None or not re.match(r"'(tgpu|scf)\.\w+' op ", error))
        failed |= wrong
        verdict = "WRONG" if wrong else "ok"
        print(f"{verdict}: line {index + 1}: {lines[index].strip()[:60]} -> {error or 'accepted'}")
    if failed or count == 0:
        sys.exit("some removal was not noticed")
    print(f"all {count} removals noticed")


main()
