#!/usr/bin/python3
"""check_commands.py [--show] [DOCUMENT...]: do the commands that README.md, docs/*.md and kernels/README.md show work?

A command is a line of an indented block that begins with one of our programs (`tilec`, `build/bin/tile-run`, `tools/dev/random`,
`python3 tools/dev/...`), environment variables before it or not; what follows two blanks and `#` is a comment, a `\\` at the end goes on.
- Each option must be one that the program knows.
- `tilec`, `tile-run` and `tile-opt` are run, those of one document after the other in one folder, where kernels that they name lie, and
  packs of them; `k.tile` is the file below, `axpy.tile` the one that README.md shows. They must end with status 0.
- Fenced blocks of `c` and `cpp` are compiled, in a function whose arguments are the variables that they do not declare, with the header of `gemm`.
- Not run: what has a placeholder (capitals, brackets, `...`), what needs a GPU, and our scripts, which have tests of their own.
--show prints what was done with each.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "kernels/README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]
RUN = ("tilec", "tile-run", "tile-opt")
KNOWN = (*RUN, "launch-cost")
SECONDS = 300
PLACEHOLDER = re.compile(r"(?<!')\[(?!\d)|\.\.\.|\b(FILE|DIR|OUT|NAME|VALUE|KIND|LINE|TEXT)\b")
NEEDS_GPU = re.compile(r"--on=cuda|--repeat|--flush-l2|--cases shapes|--gpus")
ARRAYS = {"a.npy": (1000, 64), "c.npy": (1000, 1000)}  # zeros, and what comes of them
K_TILE = """kernel k(A: tensor<f32>[M], C: out tensor<f32>[M]) {
    launch b in grid(ceildiv(M, 128)) threads(64) {
        fragment x: f32[128];
        copy(A[b * 128], x);
        x = 2 * x;
        copy(x, C[b * 128]);
    }
}
"""


def commands(text):
    """(line, command) of each command in a document."""
    lines, found, number = text.splitlines(), [], 0
    while number < len(lines):
        start, line = number, lines[number]
        while line.endswith("\\") and number + 1 < len(lines):
            number += 1
            line = line[:-1] + lines[number].strip()
        number += 1
        if line.startswith("    ") and (command := re.sub(r" {2,}(#|every case|few cases|these in place|the cases as).*$", "", line.strip())):
            if program_of(command):
                found.append((start + 1, command))
    return found


def words_of(command):
    try:
        return shlex.split(command, comments=False)
    except ValueError:
        return []


def program_of(command):
    """The name of one of our programs, or the path of one of our scripts; None if it is neither."""
    words = [w for w in words_of(command)]
    while words and re.fullmatch(r"[A-Z_]+=.*|python3", words[0]):
        words.pop(0)
    if not words:
        return None
    name = words[0]
    if name.removeprefix("build/bin/") in KNOWN:
        return name.removeprefix("build/bin/")
    return name if re.fullmatch(r"tools/dev/[\w.]+", name) else None


def known_options(program, cache={}):
    """The text in which every option of a program stands."""
    if program not in cache:
        if program.split()[0] in KNOWN:
            name, *subcommand = program.split()
            done = subprocess.run([ROOT / "build/bin" / name, *subcommand, "--help=all" if name == "tilec" else "--help"], capture_output=True, text=True)
            cache[program] = done.stdout + done.stderr
        else:
            path = ROOT / program
            files = [path] if path.is_file() else sorted(path.glob("*.py"))
            cache[program] = "".join(f.read_text() for f in files)
            if program == "tools/dev/random":
                cache[program] += (ROOT / "test/random/tilegen/command.py").read_text()
    return cache[program]


def unknown(program, command):
    subcommand = re.search(r"\btilec (run|test|bench|tune|inspect) ", command) if program == "tilec" else None
    text = known_options(f"tilec {subcommand[1]}" if subcommand else program)
    if not text:
        return [f"there is no {program}"]
    options = {word.split("=")[0] for word in words_of(command) if re.fullmatch(r"--?[A-Za-z][\w-]*(=.*)?", word)}
    options -= {"-"}
    return [f"{program} has no option {o}" for o in sorted(options) if not re.search(rf"(?<![\w-]){re.escape(o)}(?![\w])", text)]


def provide(command, folder):
    """The files that a command reads and that are not there."""
    for name in re.findall(r"[\w/.*-]+\.(?:tile|pack|mlir)\b", command):
        path = folder / name
        if path.exists() or "/" in name:
            continue
        stem, kind = name.split(".")
        source = folder / f"{stem}.tile"
        if stem in ("k", "x"):
            source = folder / "k.tile"
            source.write_text(K_TILE)
        elif not source.exists():
            shutil.copy(next((ROOT / "kernels").glob(f"*/{stem}.tile")), source)
        if kind != "tile" and not re.search(rf"(-o|>) *{re.escape(name)}", command):
            output = ["--emit=tile"] if kind == "mlir" else []
            subprocess.run([ROOT / "build/bin/tilec", source, *output, "-o", path], check=True, cwd=folder)
    for name, extents in ARRAYS.items():
        if f"={name}" in command:
            np.save(folder / name, np.zeros(extents, np.float16))
    if ".ptx" in command and "--ptx" in command and not (folder / re.search(r"--ptx (\S+)", command)[1]).exists():
        name = re.search(r"--ptx (\S+)", command)[1]
        subprocess.run([ROOT / "build/bin/tilec", folder / f"{name.split('.')[0]}.tile", "-o", folder / name], check=True, cwd=folder)


def why_not_run(program, command):
    if program not in RUN:
        return "a script"
    if PLACEHOLDER.search(command):
        return "has a placeholder"
    subcommand = (words_of(command)[1:] or [""])[0]
    if NEEDS_GPU.search(command) or (subcommand in ("bench", "tune") and "--dry-run" not in command and "--jobs-file" not in command):
        return "needs a GPU"
    return "takes long" if command.startswith("tilec test kernels") and "--list" not in command and "--line" not in command else ""


def compiles(text, folder, document):
    """Problems of the C and C++ blocks of a document."""
    problems = []
    for block in re.finditer(r"^```(c|cpp)\n(.*?)^```$", text, re.M | re.S):
        language, code = block.groups()
        header = folder / "gemm.h"
        if not header.exists():
            subprocess.run([ROOT / "build/bin/tilec", ROOT / "kernels/gemm/gemm.tile", "-o", header], check=True)
        includes = "".join(line + "\n" for line in code.splitlines() if line.startswith("#include"))
        body = re.sub(r"^#include.*\n", "", code, flags=re.M)
        context = {"c": "tile_context *context, ", "cpp": "const tile::Context &context, "}[language]
        context = "" if re.search(r"Context context\b", body) else context
        extents = "int64_t m, int64_t n, int64_t k" if language == "c" else "int64_t M, int64_t N, int64_t K"
        path = folder / f"block.{language}"
        path.write_text(f'{includes}#include "gemm.h"\n'
                        f"void block({context}void *a, void *b, void *c, void *stream, void *workspace, {extents});\n"
                        f"void block({context}void *a, void *b, void *c, void *stream, void *workspace, {extents}) {{\n{body}}}\n")
        compiler = ["clang-22", "-std=c11"] if language == "c" else ["clang++-22", "-std=c++17"]
        done = subprocess.run([*compiler, "-fsyntax-only", "-I", ROOT / "runtime/include", "-I", folder, path], capture_output=True, text=True)
        if done.returncode:
            line = text[: block.start()].count("\n") + 1
            problems.append(f"{document}:{line}: the block does not compile:\n{done.stderr[:1000]}")
    return problems


def check(document, show):
    text = (ROOT / document).read_text()
    problems, count, ran = [], 0, 0
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top)
        for name in ("kernels", "test", "docs"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "build").mkdir()
        (folder / "build/bin").symlink_to(ROOT / "build/bin")
        (folder / "build/lib").symlink_to(ROOT / "build/lib")
        if block := re.search(r"`axpy\.tile`:\n\n((?:    .*\n|\n)+?)\n(?=    tilec)", text):
            (folder / "axpy.tile").write_text(re.sub(r"^    ", "", block[1], flags=re.M))
        problems += compiles(text, folder, document)
        for line, command in commands(text):
            program, count = program_of(command), count + 1
            problems += [f"{document}:{line}: {problem}" for problem in unknown(program, command)]
            if reason := why_not_run(program, command):
                show and print(f"{document}:{line}: {reason}: {command}")
                continue
            command = re.sub(r"; vi \S+", "", command)
            provide(command, folder)
            environment = dict(os.environ, PATH=f"{ROOT / 'build/bin'}{os.pathsep}{os.environ['PATH']}")
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, errors="replace", timeout=SECONDS)
            ran += 1
            show and print(f"{document}:{line}: status {done.returncode}: {command}")
            if done.returncode:
                problems.append(f"{document}:{line}: `{command}` ends with status {done.returncode}:\n{(done.stdout + done.stderr)[-600:]}")
    return problems, count, ran


def main():
    show = "--show" in sys.argv[1:]
    documents = [a for a in sys.argv[1:] if a != "--show"] or DOCUMENTS
    results = [check(document, show) for document in documents]
    problems = [p for result in results for p in result[0]]
    count, ran = sum(r[1] for r in results), sum(r[2] for r in results)
    print("\n".join([*problems, f"{count} commands, {ran} of them run, {len(problems)} problems"]))
    sys.exit(bool(problems) or not count)


if __name__ == "__main__":
    main()
