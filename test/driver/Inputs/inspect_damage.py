#!/usr/bin/python3
"""inspect_damage.py TILEC FOLDER COUNT SEED FILE...: damaged files never crash `tilec inspect`.

COUNT pieces of each FILE, from its beginning up to some byte, must each be an error [inspect]; COUNT copies with a byte or some changed must be one, or
be shown. All of it is text.
"""
import json
import pathlib
import random
import subprocess
import sys

AT_ONCE = 100


def cuts(data, count, draw):
    """Lengths: every border of the header, the last bytes, and some between."""
    fixed = [*range(0, 70, 3), len(data) - 1, len(data) - 2]
    return sorted({n for n in [*fixed, *(draw.randrange(len(data)) for _ in range(count))] if n < len(data)})


def changed(data, draw):
    copy = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 5, 20])):
        # Half of the changes are where the tables are: at the beginning.
        place = draw.randrange(min(len(data), 4096) if draw.random() < 0.5 else len(data))
        copy[place] = draw.choice([0, 1, 0x7F, 0xFF, copy[place] ^ 1 << draw.randrange(8), draw.randrange(256)])
    return bytes(copy)


def inspect(tilec, options, files):
    done = subprocess.run([tilec, "inspect", "--diagnostics-format=json", *options, *files], capture_output=True, timeout=120)
    if done.returncode not in (0, 1):
        sys.exit(f"status {done.returncode} for one of {' '.join(map(str, files))}\n{done.stderr.decode(errors='replace')}")
    done.stdout.decode(), done.stderr.decode()  # text
    errors = [json.loads(line) for line in done.stderr.splitlines()]
    if any(error["name"] not in ("inspect",) for error in errors):
        sys.exit(f"unexpected: {errors}")
    return {file for file in files for error in errors if f"`{file}`" in error["message"]}


def main():
    tilec, folder, count, seed, *files = sys.argv[1:]
    draw, folder = random.Random(int(seed)), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    total = refused = 0
    for path in map(pathlib.Path, files):
        data = path.read_bytes()
        pieces = [(True, data[:n]) for n in cuts(data, int(count), draw)] + [(False, changed(data, draw)) for _ in range(int(count))]
        for start in range(0, len(pieces), AT_ONCE):
            written = []
            for number, (_, piece) in enumerate(pieces[start : start + AT_ONCE]):
                written.append(folder / f"{path.name}.{number}")
                written[-1].write_bytes(piece)
            wrong = inspect(tilec, draw.choice([[], ["--format=json"]]), written)
            for file, (is_cut, piece) in zip(written, pieces[start : start + AT_ONCE]):
                if is_cut and file not in wrong:
                    sys.exit(f"{path.name}, cut off behind byte {len(piece)}, was not refused")
                total, refused = total + 1, refused + (file in wrong)
                file.unlink()
    print(f"{total} damaged files, {refused} refused")


if __name__ == "__main__":
    main()
