"""Takes each synchronising operation out of a kernel, one at a time, and checks that tgpu-verify-sync then refuses it.

remove_each.py FILE [PASS-PIPELINE]: FILE must verify as it is. A wait that gives results is weakened by one group instead of
removed; one that keeps the fragments of its products also loses them. A line that ends in `// redundant` must verify without it too. Prints a table of what was refused, and why.
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
WEAKENED = re.compile(r"= tgpu\.wgmma_wait (\d+)")


def refusal(lines):
    """The first error for a kernel, or None if it verifies."""
    command = ["tile-opt", "-", "--pass-pipeline=" + PIPELINE, "-o", "/dev/null"]
    run = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    if run.returncode == 0:
        return None
    errors = re.findall(r"error: (.*)", run.stderr)
    return errors[0] if errors else "crash: " + run.stderr[:500]


def mutants(lines):
    for index, line in enumerate(lines):
        if REMOVED.match(line):
            yield index, lines[:index] + lines[index + 1 :]
        elif found := WEAKENED.search(line):
            weaker = line.replace(found[0], f"= tgpu.wgmma_wait {int(found[1]) + 1}")
            yield index, lines[:index] + [weaker] + lines[index + 1 :]
            if "wgmma_wait" in line and KEPT.search(line):
                yield index, lines[:index] + [KEPT.sub("", line)] + lines[index + 1 :]


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
        wrong = (error is not None) if redundant else (error is None or not re.match(r"'tgpu\.\w+' op ", error))
        failed |= wrong
        verdict = "WRONG" if wrong else "ok"
        print(f"{verdict}: line {index + 1}: {lines[index].strip()[:60]} -> {error or 'accepted'}")
    if failed or count == 0:
        sys.exit("some removal was not noticed")
    print(f"all {count} removals noticed")


main()
