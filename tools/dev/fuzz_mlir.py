#!/usr/bin/env python3
"""Feeds damaged IR to tile-opt and tilec: each ends in a diagnostic (status 0 or 1), never in a signal or a hang.

    tools/dev/fuzz_mlir.py [--count N] [--seed S] [--keep DIR] [FILE.mlir ...]

Takes the lit tests of the dialects and passes with the pipelines of their RUN lines, cuts them into their parts, changes
numbers, words and lines of a part at random, and runs tile-opt. The same for programs that tilec has written as IR of the
tile dialect and compiles from there. What fails is kept under --keep. The last line is
`N passed, N failed`.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 60
PROGRAMS = ['test/driver/Inputs/even_gemm.tile', 'kernels/elementwise/elementwise.tile', 'kernels/attention/flash_attention.tile',
            'kernels/gemv/gemv.tile', 'kernels/w4a16_gemm/w4a16_gemm.tile']
# Whatever a launch can ask for.
LAUNCH = ('cluster = array<i32: 1, 1>, max_registers = 128 : i32, min_blocks = 1 : i32, rasterize = 4 : i32, '
          'require = ["pipelined"], warp_specialize = "auto"')
TOKEN = re.compile(r'"[^"]*"|[%@#!]?[\w.$]+|->|::|\S')


def parts_of(path):
    """Pairs of a part of the file and the pipeline options that its RUN line gives tile-opt."""
    text = path.read_text()
    run = re.search(r'RUN: tile-opt %s(?: (.*))?', text)
    command = re.sub(r'-o \S+', '', (run.group(1) or '').split('|')[0]) if run else ''  # its output is not wanted
    options = re.findall(r"'[^']*'|\S+", command)
    options = [o.replace("'", '') for o in options if not o.startswith(('-split', '-verify', '2>'))]
    for part in text.split('// -----'):
        code = '\n'.join(line for line in part.splitlines() if not line.strip().startswith('//'))
        if 'kernel' in code:
            yield code, options


def programs(folder):
    """IR of the tile dialect, and the options with which tilec compiles it."""
    for source in PROGRAMS:
        text = folder / 'program.mlir'
        subprocess.run([ROOT / 'build/bin/tilec', ROOT / source, '--arch=sm_90a', '--emit=tile', '-o', text], check=True)
        code = text.read_text()
        for arch in ['sm_90a', 'sm_80']:
            yield source, code, [f'--arch={arch}', '--emit=ptx', '-o', '/dev/null']
            if not re.search(r'threads\(\d+\) attributes', code):
                yield source, re.sub(r'(threads\(\d+\)) \{', rf'\1 attributes {{{LAUNCH}}} {{', code), [
                    f'--arch={arch}', '--emit=ptx', '-o', '/dev/null']


def kind_of(text):
    """Tokens of one kind may stand for each other."""
    return text[0] if text[0] in '%@#!"' else 'word' if text[0].isalpha() else 'other'


def other_number(number, draw):
    near = [int(number) + 1, max(0, int(number) - 1), int(number) * 2, int(number) // 2, 0, 1, 2, 3, 7, 24, 64]
    far = [1000, 100000, 2**31 - 1, 2**31, 2**32 + 1, 2**63 - 1, 2**64]
    return str(draw.choice(near if draw.random() < 0.85 else far))


def damaged(code, draw):
    """The code with one or two small changes that mostly still parse."""
    for _ in range(draw.randint(1, 2)):
        tokens = list(TOKEN.finditer(code))
        numbered = [t for t in tokens if re.search(r'\d', t.group()) and t.group()[0] not in '%@#!']
        change = draw.random()
        if change < 0.6 and numbered:
            token = draw.choice(numbered)
            number = draw.choice(list(re.finditer(r'(?<![a-wyz\d])\d+', token.group())) or [None])
            if number is None:
                continue
            start, end = token.start() + number.start(), token.start() + number.end()
            code = code[:start] + other_number(number.group(), draw) + code[end:]
        elif change < 0.85:
            token = draw.choice(tokens)
            same = [t for t in tokens if kind_of(t.group()) == kind_of(token.group())]
            code = code[:token.start()] + draw.choice(same).group() + code[token.end():]
        else:
            lines = code.splitlines()
            at = draw.randrange(len(lines))
            if draw.random() < 0.5:
                del lines[at]
            else:
                lines[at], lines[at - 1] = lines[at - 1], lines[at]
            code = '\n'.join(lines)
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--count', type=int, default=300)
    parser.add_argument('--seed', default='0')
    parser.add_argument('--keep', type=pathlib.Path, default=ROOT / 'build/fuzz-mlir')
    parser.add_argument('files', nargs='*', type=pathlib.Path)
    options = parser.parse_args()
    files = options.files or sorted([*ROOT.glob('test/passes/**/*.mlir'), *ROOT.glob('test/dialects/**/*.mlir')])
    pool = [(str(path.relative_to(ROOT)), code, 'tile-opt', args) for path in files for code, args in parts_of(path)]
    whole = []
    draw = random.Random(options.seed)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if not options.files:
            whole = [(source, code, 'tilec', args) for source, code, args in programs(folder)]
        for number in range(options.count):
            source, code, tool, args = draw.choice(whole if whole and number % 4 == 0 else pool)
            text = damaged(code, draw)
            file = folder / 'damaged.mlir'
            file.write_text(text)
            try:
                run = subprocess.run([ROOT / 'build/bin' / tool, file, *args], cwd=folder, capture_output=True, text=True, errors='replace',
                                     timeout=SECONDS)
                status = run.returncode
            except subprocess.TimeoutExpired:
                status = 'time-out'
            if status not in (0, 1):
                failed += 1
                options.keep.mkdir(parents=True, exist_ok=True)
                kept = options.keep / f'{pathlib.Path(source).stem}-{options.seed}-{number}.mlir'
                kept.write_text(f'// RUN: {tool} %s {" ".join(repr(a) for a in args)}\n{text}')
                print(f'{kept}: status {status}, from {source}')
    print(f'{options.count - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
