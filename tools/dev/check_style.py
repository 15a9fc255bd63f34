#!/usr/bin/env python3
"""Checks what formatters do not: size and text of files, and the direction of includes.

- no file over MAX_FILE_LINES, no tabs, no trailing whitespace, a line break at the end;
- .clang-tidy, which measures functions, has the limits that stand here;
- no marks of unfinished work;
- no two files define types of one name in one namespace;
- `#include`s of our own headers follow DEPENDS below: dependencies point one way, and the runtime knows nothing but itself,
  which it names by relative paths.

Looks at the files that git knows or would add. Prints `ok`, or what is wrong and exits with 1.
usage: check_style.py [ROOT]    ROOT: the top of the repository
"""

import pathlib
import posixpath
import re
import subprocess
import sys

# The limits, here and nowhere else. Of functions clang-tidy counts lines of the body and levels of blocks in each other.
MAX_FILE_LINES = 600
LISTINGS = {"docs/errors.md"}  # made from a table, which a test compares: as long as that
FUNCTION_LIMITS = {"LineThreshold": 80, "NestingThreshold": 6}
TEXT = {".h", ".hpp", ".cpp", ".c", ".td", ".def", ".py", ".md", ".tile", ".mlir", ".test", ".txt", ".cmake", ".json", ".sh"}
GENERATED_INCLUDE = re.compile(r"\.inc$")
# Tests feed the compiler odd characters on purpose.
TEST_INPUT = re.compile(r"^test/.*\.(tile|mlir|test|txt|json)$")
# A line for each case of a run: what was measured, not what somebody reads from top to bottom.
MEASURED = re.compile(r"^test/gpu/.*\.json$")
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)) + r")\b")

# A folder may include headers of itself and of what stands here. First match wins.
DIALECTS = ("dialects/support", "dialects/layout", "dialects/tile", "dialects/tgpu")
FRONT = ("dialects/support", "runtime/support", "compiler/basic", "compiler/diag", "compiler/parse", "compiler/sema")
# The formats of numbers, arrays and packs are shared with the runtime; nothing else of it is.
DEPENDS = (
    ("dialects/support", ()),
    ("dialects/layout", ()),
    ("dialects/tile", ("dialects/support", "dialects/layout")),
    ("dialects/tgpu", ("dialects/support", "dialects/layout", "dialects/tile")),
    ("passes", DIALECTS),
    ("compiler/basic", ("dialects/support", "runtime/support")),
    ("compiler/diag", ("dialects/support", "compiler/basic")),
    ("compiler/parse", ("dialects/support", "compiler/basic", "compiler/diag")),
    ("compiler/sema", FRONT),
    ("compiler/lower", FRONT + ("dialects/tile",)),
    ("compiler/cpu", ("dialects/support", "dialects/tile", "runtime/support")),
    ("compiler/emit", DIALECTS + ("compiler/basic", "compiler/diag", "runtime/support", "runtime/include")),
    # `tilec run` reads manifests and arrays as the runtime does, with its code.
    ("compiler/testing", DIALECTS + ("compiler", "runtime")),
    # Case lines are read as `tilec test` reads them, and tile-run started as by `tilec tune`.
    ("compiler/benchmark", ("passes", "dialects/support", "compiler", "runtime/support")),
    # `tilec inspect` reads packs as the runtime does, with its code.
    ("compiler/inspect", ("dialects/support", "compiler/basic", "compiler/diag", "compiler/driver", "runtime")),
    ("compiler/tuning", ("dialects/support", "compiler/basic", "compiler/diag", "compiler/driver")),
    ("compiler/driver", DIALECTS + ("passes", "compiler/basic", "compiler/diag", "compiler/parse", "compiler/sema",
                                    "compiler/lower", "compiler/emit", "runtime/support", "runtime/harness")),
    ("runtime/support", ()),
    ("runtime/include", ()),
    ("runtime/harness", ("runtime/support", "runtime/include", "runtime/src")),
    ("runtime/emulator", ("runtime/support",)),
    ("runtime/emulated", ("runtime/support", "runtime/include", "runtime/emulator", "runtime/src")),
    ("runtime", ("runtime",)),
    ("tools/tile-run", ("runtime",)),
    ("tools/ptx-run", ("runtime",)),
    ("tools/launch-cost", ("runtime",)),
    ("tools/tile-opt", DIALECTS + ("passes",)),
    ("tools/tilec", ("compiler", "dialects", "passes", "runtime/harness")),
    ("test", ("compiler", "dialects", "passes", "runtime", "tools")),
)


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def check_includes(name, text, names):
    folder, allowed = next((entry for entry in DEPENDS if within(name, entry[0])), (None, ()))
    if folder is None:
        return
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
        if not match or GENERATED_INCLUDE.search(match[1]):
            continue
        if within(name, "runtime") and match[1].startswith("runtime/"):
            yield f"{name}:{number}: the runtime is built without the rest of this tree, so its includes are relative: {match[1]}"
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[1]))
        target = next((one for one in (beside, match[1], "runtime/include/" + match[1]) if one in names), None)
        if target and not any(within(target, other) for other in (folder, *allowed)):
            yield f"{name}:{number}: {folder} must not include {match[1]}"


def check_function_limits(text):
    for option, limit in FUNCTION_LIMITS.items():
        found = re.search(rf"^ *readability-function-size\.{option}: *(\d+)$", text, re.MULTILINE)
        if not found or int(found[1]) != limit:
            yield f".clang-tidy: {option} is {found[1] if found else 'missing'}, here it is {limit}"


def check_text(name, text):
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            yield f"{name}:{number}: tab"
        if line != line.rstrip():
            yield f"{name}:{number}: trailing whitespace"
        if UNFINISHED.search(line):
            yield f"{name}:{number}: mark of unfinished work"
    if text and not text.endswith("\n"):
        yield f"{name}: no line break at the end"


def types_of(text):
    """Names of the types that a file defines for other files, with their namespaces."""
    namespaces = []
    for line in text.split("\n"):
        if opened := re.match(r"namespace\s*([\w:]*)\s*\{", line):
            namespaces.append(opened[1])
        elif namespaces and re.match(r"\}\s*// namespace", line):
            namespaces.pop()
        elif (defined := re.match(r"(?:struct|class)\s+(\w+)(?:\s+final)?\s*(?::[^:].*)?\{", line)) and "" not in namespaces:
            yield "::".join([*namespaces, defined[1]])


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                             check=True, capture_output=True, text=True).stdout
    names = {name for name in listing.split("\0") if name and (root / name).is_file()}
    problems = list(check_function_limits((root / ".clang-tidy").read_text()))
    types = {}
    for name in sorted(names):
        if pathlib.PurePosixPath(name).suffix not in TEXT:
            continue
        text = (root / name).read_bytes().decode(errors="replace")
        lines = text.count("\n")
        if lines > MAX_FILE_LINES and name not in LISTINGS and not MEASURED.match(name):
            problems.append(f"{name}: {lines} lines, more than {MAX_FILE_LINES}: split it by subject")
        if not TEST_INPUT.match(name):
            problems.extend(check_text(name, text))
        problems.extend(check_includes(name, text, names))
        if name.endswith((".h", ".cpp")):
            for type in types_of(text):  # the linker makes one of what templates make of two, whatever their sizes
                if types.setdefault(type, name) != name:
                    problems.append(f"{name}: `{type}` is a type of {types[type]}, too")
    print("\n".join(problems) if problems else "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
