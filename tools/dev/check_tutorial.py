#!/usr/bin/python3
"""check_tutorial.py [--write] [LESSON...]: do the lessons of docs/tutorial work as they are written?

Every code block of a lesson is one of two:
- ```tile NAME: the file of that name beside the lesson, all of it; --write puts in the file as it is today;
- ```console: lines that begin with `$ ` are commands, run by bash in a copy of docs/tutorial with build/bin in PATH; what
  follows a command is what it prints, errors included. `...` stands for any text, on a line of its own for any lines.
  A command fails where an `error:` or `reports:` is shown, and only there.
Anything else, an indented block or another word behind the fence, is untested and an error. Each `.tile` file is shown by a
lesson, and some `tilec test` of that lesson runs it: on the cpu target and, for both architectures, on the emulator.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/tutorial"
FENCE = re.compile(r"^```(.*)$")
FAILS = re.compile(r"error:|reports?: ")


def blocks(lines):
    """(first line, number of the line behind the last, words behind the fence) of each block, and untested lines."""
    found, bad, start = [], [], None
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if fence and start is None:
            start, words = number + 1, fence[1].split()
        elif fence:
            found.append((start, number, words))
            start = None
        elif start is None and line.startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            bad.append(number + 1)
    return found, bad


def one_blank(line):
    return " ".join(line.split())


def matches(shown, printed):
    """Whether the printed lines are the shown ones, each `...` taken for anything, blanks and tabs for one blank."""
    parts = []
    for line in map(one_blank, shown):
        any_lines = line == "..."
        parts.append(r"(?:.*\n)*?" if any_lines else ".*?".join(map(re.escape, line.split("..."))) + r"\n")
    return re.fullmatch("".join(parts), "".join(one_blank(line) + "\n" for line in printed)) is not None


def commands(lines):
    """Pairs of a command and the lines shown for it, with the number of its line."""
    result = []
    for number, line in enumerate(lines):
        if line.startswith("$ "):
            result.append((number, line[2:], []))
        elif not result:
            return [(number, None, [])]
        else:
            result[-1][2].append(line)
    return result


def run(command, folder):
    environment = dict(os.environ, PATH=f"{ROOT / 'build/bin'}{os.pathsep}{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300)
    return done.returncode, done.stdout.splitlines()


def check_console(where, lines, folder, tested):
    """Runs the commands of one block; the problems."""
    problems = []
    for number, command, shown in commands(lines):
        place = f"{where[0]}:{where[1] + number + 1}"
        if command is None:
            return [f"{place}: a console block begins with `$ ` and a command"]
        if re.match(r"tilec test\b", command) and "--on" not in command and "--arch" not in command:
            tested.update(re.findall(r"\S+\.tile", command))
        status, printed = run(command, folder)
        fails = any(FAILS.search(line) for line in shown)
        if (status != 0) != fails:
            problems.append(f"{place}: `{command}` ends with status {status}")
        if not matches(shown, printed):
            problems.append("\n".join([f"{place}: `{command}` prints something else:", *("    " + line for line in printed)]))
        elif status != 0 and not fails:
            problems.append("\n".join("    " + line for line in printed))
    return problems


def check_lesson(lesson, write):
    """Problems, the number of blocks, and the files that are shown."""
    lines = lesson.read_text().splitlines()
    found, bad = blocks(lines)
    problems = [f"{lesson.name}:{number}: an indented block, which nothing tests" for number in bad]
    shown, tested, replaced = set(), set(), []
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top) / "docs/tutorial"
        shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("*.md", "__pycache__"))
        (pathlib.Path(top) / "kernels").symlink_to(ROOT / "kernels")
        for start, end, words in found:
            if words == ["console"]:
                problems += check_console((lesson.name, start), lines[start:end], folder, tested)
            elif len(words) == 2 and words[0] == "tile" and (FOLDER / words[1]).is_file():
                shown.add(words[1])
                text = (FOLDER / words[1]).read_text().splitlines()
                replaced.append((start, end, text))
                if not write and lines[start:end] != text:
                    problems.append(f"{lesson.name}:{start}: not what {words[1]} holds; --write puts that in")
            else:
                problems.append(f"{lesson.name}:{start}: nothing tests a block of `{' '.join(words)}`")
    if write:
        for start, end, text in reversed(replaced):
            lines[start:end] = text
        lesson.write_text("\n".join(lines) + "\n")
    problems += [f"{lesson.name}: no plain `tilec test` of {name}" for name in sorted(shown - tested)]
    return problems, len(found), shown


def main():
    arguments = sys.argv[1:]
    write = "--write" in arguments
    names = [a for a in arguments if a != "--write"]
    lessons = [FOLDER / pathlib.Path(name).name for name in names] or sorted(FOLDER.glob("*.md"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda lesson: check_lesson(lesson, write), lessons))
    problems = [p for result in results for p in result[0]]
    if not names:
        every = {path.name for path in FOLDER.glob("*.tile")}
        problems += [f"no lesson shows {name}" for name in sorted(every.difference(*(shown for _, _, shown in results)))]
    print("\n".join(problems + [f"{len(lessons)} lessons, {sum(n for _, n, _ in results)} blocks, {len(problems)} problems"]))
    sys.exit(bool(problems) or not lessons)


if __name__ == "__main__":
    main()
