#!/usr/bin/python3
"""run.py [--write] BIN FILE...: mistakes that people make, and what they are told.

A case of a FILE:

    === what the mistake is
    $ tilec k.tile --emit=tile -o -     (may be left out: `tilec k.tile -o k.pack`; several are run one after the other)
    body:                               or `source:`; lines of k.tile up to the next line that begins a word. A body is put into KERNEL below,
                                        or into what stands between `kernel:` and the first case of the FILE, in the place of BODY
    exit 1
    k.tile:3:9: error: ... [name]
    help: ...

No mistake may end with status 4, an error of the compiler. After `exit` stands what is printed of errors, warnings, notes and hints, without the source lines below them; `...` stands for any text.
--write puts in what is printed today.
"""
import os
import re
import subprocess
import sys
import tempfile

KERNEL = """kernel k<T: type = f32, B: int = 64>(X: tensor<T>[N], A: tensor<T>[M, N], Y: out tensor<T>[N], n: i32) {
    launch b in grid(ceildiv(N, B)) threads(64) {
%s
    }
}
"""
SAID = re.compile(r"(error|warning|note|help|hint|usage)\b", re.I)


class Case:
    def __init__(self, name):
        self.name, self.commands, self.source, self.is_body, self.status, self.expected = name, [], [], False, 0, []
        self.kernel = KERNEL


def read(path):
    """The cases, and the lines of the file's own kernel."""
    cases, part, kernel = [], "", []
    with open(path) as file:
        for line in file.read().splitlines():
            case = cases[-1] if cases else None
            if not case and not line.startswith("=== "):
                kernel.append(line)
                continue
            if line.startswith("=== "):
                cases.append(Case(line[4:]))
                part = ""
            elif line.startswith("$ ") and part != "expected":
                case.commands.append(line[2:])
            elif line in ("body:", "source:"):
                part, case.is_body = "source", line == "body:"
            elif re.fullmatch(r"exit \d+", line):
                part, case.status = "expected", int(line[5:])
            elif part == "source":
                case.source.append(line)
            elif part == "expected" and line:
                case.expected.append(line)
    for case in cases if kernel else []:
        case.kernel = "\n".join(kernel[1:]).strip("\n").replace("%", "%%").replace("BODY", "%s") + "\n"
    return cases, kernel


def write(path, cases, kernel):
    out = list(kernel)
    for case in cases:
        out += [f"=== {case.name}", *(f"$ {c}" for c in case.commands)]
        if case.source:
            out += ["body:" if case.is_body else "source:", *case.source]
        out += [f"exit {case.status}", *case.expected, ""]
    with open(path, "w") as file:
        file.write("\n".join(out))


def said(text, folder):
    """The lines that say something; not the source lines and carets below them."""
    lines = []
    for line in text.replace(folder + "/", "").splitlines():
        if re.match(r"(\S+:\d+:\d+: |[^:]*: |<.*>:\d+:\d+: )?(error|warning|note): |(help|usage|tilec|tile-run): |FAIL ", line) or ": error: " in line:
            lines.append(re.sub(r"/tmp/\S+", "...", line))
    return lines


def happens(case, binaries):
    with tempfile.TemporaryDirectory() as folder:
        if case.source:
            body = "\n".join(case.source)
            with open(os.path.join(folder, "k.tile"), "w") as file:
                file.write(case.kernel % "\n".join("        " + line for line in case.source) if case.is_body else body + "\n")
        environment = dict(os.environ, PATH=binaries + os.pathsep + os.environ["PATH"], NO_COLOR="1", TILE_CUDA_DRIVER="/nonexistent/libcuda.so")
        text, status = "", 0
        for command in case.commands or ["tilec k.tile -o k.pack"]:
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120)
            text, status = text + done.stdout + done.stderr, done.returncode
        return status, said(text, folder)


def agrees(expected, line):
    return re.fullmatch(".*?".join(map(re.escape, expected.split("..."))), line) is not None


def main():
    writes = sys.argv[1] == "--write"
    binaries, *paths = sys.argv[2 if writes else 1 :]
    count, problems = 0, []
    for path in paths:
        cases, kernel = read(path)
        for case in cases:
            count += 1
            status, lines = happens(case, binaries)
            right = status == case.status != 4 and len(lines) == len(case.expected) and all(map(agrees, case.expected, lines))
            if writes and not right:
                case.status, case.expected = status, lines
            elif not right:
                problems.append("\n    ".join([f"{os.path.basename(path)}: {case.name}: exit {status}", *lines]))
        if writes:
            write(path, cases, kernel)
    print("\n".join([*problems, f"{count} mistakes, {len(problems)} not answered as expected"]))
    sys.exit(bool(problems) or not count)


if __name__ == "__main__":
    main()
