#!/usr/bin/env python3
"""Runs clang-tidy over the C++ sources that differ from origin/main, else from the commit before; with --since from another
one, with --all over all of them.

    tools/dev/check_tidy.py [--all | --since COMMIT] [--seconds N] [FILE...]

Each is parsed alone, also where build/ compiles a dozen at a time: one that lacks an `#include` fails here. Needs what the build generates. A file counts as different when a header that it includes
is, as far as git grep can tell. After N seconds (360) no more files are begun, and those that were left out are named:
that is no failure. The last line is `N files, M with warnings, L left out`.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def git(*args):
    return subprocess.run(['git', '-C', str(ROOT), *args], capture_output=True, text=True)


def base_commit():
    """What the tree is compared with: where it left origin/main, or the commit before."""
    fork = git('merge-base', 'HEAD', 'origin/main')
    head = git('rev-parse', 'HEAD').stdout.strip()
    if fork.returncode == 0 and fork.stdout.strip() != head:
        return fork.stdout.strip()
    return 'HEAD~1' if git('rev-parse', '--verify', '-q', 'HEAD~1').returncode == 0 else None


def changed_sources(sources, since):
    base = since or base_commit()
    if base is None:
        return sources
    differing = git('diff', '--name-only', base)
    if differing.returncode != 0:
        sys.exit(differing.stderr.strip())
    changed = set(differing.stdout.split())
    changed |= set(git('ls-files', '--others', '--exclude-standard').stdout.split())
    headers = {name for name in changed if name.endswith('.h')}
    wanted = [name for name in sources if name in changed]
    for name in sources:
        text = (ROOT / name).read_text(errors='replace')
        if name not in changed and headers & set(re.findall(r'#\s*include\s+"([^"]+)"', text)):
            wanted.append(name)  # after those that changed themselves
    return wanted


def commands_of_files():
    """Writes build/alone/compile_commands.json: each file's own command, with the headers that build/ has generated."""
    alone = ROOT / 'build/alone'
    configured = subprocess.run(['cmake', '--preset', 'dev', '-B', alone, '-Wno-dev'], cwd=ROOT, capture_output=True, text=True)
    if configured.returncode != 0:
        sys.exit(configured.stdout + configured.stderr)
    path = alone / 'compile_commands.json'
    text = path.read_text().replace(str(alone), str(ROOT / 'build'))
    path.write_text(text)
    return json.loads(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--since', metavar='COMMIT', help='what differs from this commit')
    parser.add_argument('--seconds', type=float, default=360)
    parser.add_argument('files', nargs='*', metavar='FILE', help='these, and no others')
    options = parser.parse_args()
    commands = commands_of_files()
    sources = sorted({os.path.relpath(entry['file'], ROOT) for entry in commands})
    sources = [name for name in sources if not name.startswith(('build/', '..'))]
    if options.files:
        sources = [os.path.relpath(os.path.abspath(name), ROOT) for name in options.files]
    elif not options.all:
        sources = changed_sources(sources, options.since)
    end = time.monotonic() + (options.seconds if not options.all else float('inf'))

    def tidy(name):
        if time.monotonic() > end:
            return name, None
        # Precompiled headers are those of another tool's options: clang-tidy parses the headers themselves.
        run = subprocess.run(['clang-tidy-22', '-p', 'build/alone', '--quiet', '--warnings-as-errors=*', name], cwd=ROOT,
                             capture_output=True, text=True)
        return name, run

    bad, left = 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, run in pool.map(tidy, sources):
            if run is None:
                left.append(name)
            elif run.returncode != 0:
                bad += 1
                print(run.stdout + ('' if run.stdout.strip() else run.stderr))
    for name in left:
        print(f'left out: {name}')
    print(f'{len(sources)} files, {bad} with warnings, {len(left)} left out')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
