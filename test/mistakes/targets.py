#!/usr/bin/python3
"""targets.py BIN: one mistake, one answer, wherever a call would have run.

Each mistake below is made on the cpu target, on the emulator and, through the emulator behind the functions of the CUDA driver, on
a GPU, by `tilec run` and by `tile-run`. All must end with the status and the text that stand beside it; `...` stands for any text.
A result begins with where it ran (cpu, emu sm_90a, cuda) and which variant was taken, a usage error with the program's name; of a check that fails
a GPU adds the block and thread. That is all that may differ.
"""
import concurrent.futures
import os
import re
import struct
import subprocess
import sys
import tempfile

SCALE = """kernel k(X: tensor<f32>[N], Y: out tensor<f32>[N], a: f32) where N % 4 == 0 {
    launch b in grid(ceildiv(N, 64)) threads(64) {
        fragment f: f32[64];
        copy(X[b * 64], f);
        copy(f * a, Y[b * 64]);
    }
}
"""
# HOST: what stands in the host part.
HOST = """kernel k(X: tensor<i32>[N], Y: out tensor<i32>[N], d: i32) {
    HOST
    launch b in grid(ceildiv(N, 64)) threads(64) {
        fragment f: i32[64];
        copy(X[b * 64], f);
        copy(f + n, Y[b * 64]);
    }
}
"""
WORKSPACE = """kernel k(Y: out tensor<f32>[N], d: i32) {
    workspace w: f32[HOST] = 1;
    launch b in grid(ceildiv(N, 64)) threads(64) {
        fragment f: f32[64];
        copy(w[ZERO b * 64], f);
        copy(f, Y[b * 64]);
    }
}
"""
SHAPES = """kernel k(A: tensor<f32>[M, N], B: tensor<f32>[N, M], C: inout strided tensor<f32>[M, N + 1], O: optional out tensor<f32>[M]) {
    launch b in grid(M) threads(32) {
        parallel i in [N] { C[b, i] = A[b, i] + B[i, b]; }
        if present(O) { O[b] = 1; }
    }
}
"""
PACKED = """kernel k(X: tensor<u4>[N], Y: out tensor<f32>[N]) {
    launch b in grid(ceildiv(N, 64)) threads(64) {
        fragment f: u4[64];
        copy(X[b * 64], f);
        copy(f32(f), Y[b * 64]);
    }
}
"""
SUM = """kernel k(X: tensor<f32>[M, N], Y: tensor<f32>[M, N], Z: out tensor<f32>[M, N]) {
    launch (i, j) in grid(ceildiv(N, 64), M) threads(64) {
        parallel t in [64] { Z[j, i * 64 + t] = X[j, i * 64 + t] + Y[j, i * 64 + t]; }
    }
}
"""
LONG = "kernel k(X: tensor<f32>[n, n], n: i64) { launch b in grid(1) threads(32) { assert(X[b, b] == 0); } }\n"
GRID = "kernel k(X: inout tensor<f32>[N], n: i32) { launch (i, j) in grid(n, n) threads(32) { X[i] = 1; } }\n"
ALIAS = """kernel k(X: tensor<f32>[N], Y: out tensor<f32>[N] may_alias(X)) {
    launch b in grid(ceildiv(N, 64)) threads(64) { parallel t in [64] { Y[b * 64 + t] = X[b * 64 + t]; } }
}
"""
CHECKED = """kernel k(Y: out tensor<i32>[N], d: i32) {
    launch b in grid(ceildiv(N, 64)) threads(64) {
        let q = 100 / d;
        assert(q < 50, "q is {}", q);
        parallel t in [64] { Y[b * 64 + t] = q; }
    }
}
"""
TWO = ALIAS + ALIAS.replace("kernel k", "kernel l")


def host(text):
    return HOST.replace("HOST", text)


def workspace(extents):
    return WORKSPACE.replace("HOST", extents).replace("ZERO ", "0, " * extents.count(","))


GOOD = "--dim N=64 --arg a=2"
RAN = "0 ran, not compared"
# What the mistake is, source, options, status and text. A usage error is a `2`.
MISTAKES = [
    ("none", SCALE, GOOD + " --out Y=y.npy", RAN),
    # Files.
    ("a file that is not there", SCALE, "--arg X=none.npy --arg a=2", "2 cannot open `none.npy`: No such file or directory"),
    ("a folder", SCALE, "--arg X=folder.npy --arg a=2", "2 cannot open `folder.npy`: Is a directory"),
    ("a file of another kind", SCALE, "--arg X=text.npy --arg a=2", "2 `text.npy`: it is not a .npy file"),
    ("a file that is cut short", SCALE, "--arg X=short.npy --arg a=2", "2 `short.npy`: its size is not what its header says"),
    ("a file with a damaged header", SCALE, "--arg X=header.npy --arg a=2", "2 `header.npy`: its header has no 'shape'"),
    ("a file of another type", SCALE, "--arg X=f64.npy --arg a=2", "2 `f64.npy`: it holds f64, not f32"),
    ("a file of another rank", SCALE, "--arg X=matrix.npy --arg a=2", "2 `matrix.npy` has rank 2, argument `X` has rank 1"),
    ("a name that is no file's", SCALE, GOOD + " --arg X=zeros.np", "2 `--arg X=zeros.np`: neither a .npy file nor a distribution"),
    ("a reference that is not there", SCALE, GOOD + " --expect Y=none.npy", "2 cannot open `none.npy`: No such file or directory"),
    ("a reference of another kind", SCALE, GOOD + " --expect Y=text.npy", "2 `text.npy`: it is not a .npy file"),
    ("a reference of another shape", SCALE, GOOD + " --expect Y=matrix.npy", "1 Y WRONG: the shape is f32[64], expected f32[8, 4]"),
    ("another reference", SCALE, GOOD + " --expect Y=zeros.npy", "1 Y WRONG: error 15.6 (tolerance 0.0001); at [36]: 3.9891932, expected 0"),
    ("a reference for a scalar", SCALE, GOOD + " --expect a=zeros.npy", "2 kernel `k` has no tensor `a`; it has X, Y"),
    ("a folder to write to that is not there", SCALE, GOOD + " --out Y=none/y.npy", "2 cannot write `none/y.npy`: No such file or directory"),
    ("a folder to write", SCALE, GOOD + " --out Y=folder.npy", "2 cannot write `folder.npy`: Is a directory"),
    ("a full disk", SCALE, GOOD + " --out Y=/dev/full", "1 error: cannot write `/dev/full`: No space left on device"),
    ("a scalar to write", SCALE, GOOD + " --out a=a.npy", "2 kernel `k` has no tensor `a`; it has X, Y"),
    ("a tensor to write that is not given", SHAPES, "--dim M=2 --dim N=8 --out O=o.npy", "2 `--out O`: the optional tensor is not given; ask for it with `--arg O=poison`"),
    # Names and numbers.
    ("a dimension that there is not", SCALE, GOOD + " --dim M=3", "2 kernel `k` has no dimension `M`; it has N"),
    ("a dimension that is not given", SCALE, "--arg a=2", "2 dimension `N` is not known: give --dim N=... or a file for `X`"),
    ("a dimension that is no number", SCALE, "--dim N=x --arg a=2", "2 `--dim N=x` is not an integer"),
    ("a dimension without a value", SCALE, "--dim N --arg a=2", "2 `--dim N` is not NAME=VALUE"),
    ("a dimension below 0", SCALE, "--dim N=-4 --arg a=2", "2 argument `X` cannot be made: its extents are -4"),
    ("an extent below 0", SHAPES.replace("N + 1", "N - 1"), "--dim M=2 --dim N=0", "2 argument `C` cannot be made: its extents are 2 x -1"),
    ("a dimension of 2^31", SCALE, "--dim N=2147483648 --arg a=2", "1 error: [extent-too-large] argument `X`, dimension 0: the extent is 2147483648, it must be from 0 to 2^31 - 1"),
    ("a dimension of 2^62", SCALE, "--dim N=4611686018427387904 --arg a=2", "1 error: [extent-too-large] argument `X`, dimension 0: the extent is 4611686018427387904, it must be from 0 to 2^31 - 1"),
    ("a dimension of 2^63", SCALE, "--dim N=9223372036854775808 --arg a=2", "2 `--dim N=9223372036854775808` is not an integer"),
    ("dimensions of a file and of the command line", SCALE, "--dim N=32 --arg X=zeros.npy --arg a=2", "1 error: [dim-mismatch] argument `Y`, dimension 0: the extent is 32, but `N` is 64 (`N` is 64 by dimension 0 of `X`)"),
    ("dimensions of two files", SHAPES, "--arg A=matrix.npy --arg B=matrix.npy", "1 error: [dim-mismatch] argument `B`, dimension 0: the extent is 8, but `N` is 4 (`N` is 4 by dimension 1 of `A`)"),
    ("half an element of packed ones", PACKED, "--dim N=63", "1 error: [packed-extent] argument `X`: the last extent is 63, it must be even for u4"),
    ("an argument that there is not", SCALE, GOOD + " --arg b=1", "2 kernel `k` has no argument `b`; it has X, Y, a"),
    ("an argument without a name", SCALE, GOOD + " --arg =1", "2 `--arg =1` is not NAME=VALUE"),
    ("an argument without a value", SCALE, "--dim N=64 --arg a=", "2 `--arg a=` is not NAME=VALUE"),
    ("a scalar that is not given", SCALE, "--dim N=64", "2 scalar argument `a` needs a number: --arg a=..."),
    ("a scalar that is no number", SCALE, "--dim N=64 --arg a=x", "2 scalar argument `a` needs a number: --arg a=..."),
    ("a fraction for an integer", host("let n = d;"), "--dim N=64 --arg d=1.5", "2 scalar argument `d` is i32, not `1.5`: --arg d=..."),
    ("an integer that is too large", host("let n = d;"), "--dim N=64 --arg d=2147483648", "2 scalar argument `d` cannot be 2147483648, which is outside i32: --arg d=..."),
    ("a distribution that there is not", SCALE, GOOD + " --arg X=gauss", "2 `--arg X=gauss`: neither a .npy file nor a distribution"),
    ("no tensor where one must be", SCALE, GOOD + " --arg X=none", "2 `--arg X=none`: the kernel cannot do without `X`"),
    ("the same as nothing", SCALE, GOOD + " --arg Y=same(Q)", "2 `--arg Y=same(Q)`: no tensor of its own"),
    ("the same without may_alias", SCALE, GOOD + " --arg Y=same(X)", "1 error: [alias] argument `Y` is written and overlaps `X`"),
    ("the same as a dimension", ALIAS, "--dim N=64 --arg Y=same(N)", "2 `--arg Y=same(N)`: no tensor of its own"),
    ("a pitch of what is not strided", SHAPES, "--dim M=2 --dim N=8 --pitch A=16", "1 error: [stride] argument `A`, dimension 0: the stride is 16, it must be 8 (row-major and contiguous)"),
    ("a pitch below the row", SHAPES, "--dim M=2 --dim N=8 --pitch C=4", "2 `--pitch C`: the distance is no less than a row"),
    ("a pitch of what there is not", SHAPES, "--dim M=2 --dim N=8 --pitch Q=4", "2 kernel `k` has no tensor `Q`; it has A, B, C, O"),
    ("a pitch that is no number", SHAPES, "--dim M=2 --dim N=8 --pitch C=x", "2 `--pitch C=x` is not an integer"),
    ("a pitch beyond all memory", SHAPES, "--dim M=2 --dim N=8 --pitch C=9223372036854775807", "2 `--pitch C`: the tensor is too large with it"),
    ("too many pitches", SHAPES, "--dim M=2 --dim N=8 --pitch C=4,5,6", "2 `--pitch C`: it has a number for rows, or one for each dimension but the last"),
    ("no kernel chosen", TWO, "--dim N=64", "2 there are several kernels, choose one with `--kernel`: k, l"),
    # Host parts.
    ("where", SCALE, "--dim N=62 --arg a=2", "1 error: [where-failed] `N % 4 == 0` does not hold for this call of `k`: N = 62"),
    ("a division by 0", host("let n = 100 / d;"), "--dim N=64 --arg d=0", "1 error: [host-overflow] `100 / d` divides by zero"),
    ("a remainder by 0", host("let n = 100 % d;"), "--dim N=64 --arg d=0", "1 error: [host-overflow] `100 % d` divides by zero"),
    ("ceildiv by 0", host("let n = ceildiv(N, d);"), "--dim N=64 --arg d=0", "1 error: [host-overflow] `ceildiv(N, d)` divides by zero"),
    ("a division that overflows", host("let n = d / (N - 65);"), "--dim N=64 --arg d=-2147483648", "1 error: [host-overflow] `d / (N - 65)` is 2147483648, which does not fit i32"),
    ("a product that overflows", host("let n = d * d;"), "--dim N=64 --arg d=65536", "1 error: [host-overflow] `d * d` is 4294967296, which does not fit i32"),
    ("a sum that overflows", host("let n = d + N;"), "--dim N=64 --arg d=2147483647", "1 error: [host-overflow] `d + N` is 2147483711, which does not fit i32"),
    ("a sign that overflows", host("let n = -d;"), "--dim N=64 --arg d=-2147483648", "1 error: [host-overflow] `0 - d` is 2147483648, which does not fit i32"),
    ("abs that overflows", host("let n = abs(d);"), "--dim N=64 --arg d=-2147483648", "1 error: [host-overflow] `abs(d)` is 2147483648, which does not fit i32"),
    ("a difference without sign below 0", host("let n = i32(u32(d) - u32(100));"), "--dim N=64 --arg d=5", "1 error: [host-overflow] `u32(d) - 100` is -95, which does not fit u32"),
    ("a shift that is too far", host("let n = 1 << d;"), "--dim N=64 --arg d=40", "1 error: [host-overflow] `1 << d` shifts by 40"),
    ("a shift to the right that is too far", host("let n = N >> d;"), "--dim N=64 --arg d=32", "1 error: [host-overflow] `N >> d` shifts by 32"),
    ("a shift below 0", host("let n = N << d;"), "--dim N=64 --arg d=-1", "1 error: [host-overflow] `N << d` shifts by -1"),
    ("a shift that loses bits", host("let n = N << d;"), "--dim N=64 --arg d=30", "1 error: [host-overflow] `N << d` is 68719476736, which does not fit i32"),
    ("a mistake in the branch that is taken", host("let n = d > 0 ? 100 / (d - 1) : 3;"), "--dim N=64 --arg d=1", "1 error: [host-overflow] `100 / (d - 1)` divides by zero"),
    ("a mistake in the branch that is not", host("let n = d > 0 ? 100 / d : 3;"), "--dim N=64 --arg d=0", RAN),
    ("a mistake in what nothing uses", host("let q = 100 / d; let n = 1;"), "--dim N=64 --arg d=0", RAN),
    ("a grid that is too large", GRID, "--dim N=64 --arg n=65536", "1 error: [grid-too-large] launch `k_0`: its grid is 65536 x 65536, 2^31 points or more"),
    ("a grid below 0", GRID, "--dim N=64 --arg n=-1", RAN),
    # Memory.
    ("a workspace below 0", workspace("d"), "--dim N=64 --arg d=-5", RAN),
    ("a large workspace", workspace("d, d"), "--dim N=64 --arg d=4000000", "1 error: the call needs 58.2 TiB for its workspaces, but may have ..., a quarter of this machine's memory"),
    ("a workspace beyond 2^50", workspace("d, d, d"), "--dim N=64 --arg d=2000000", "1 error: [host-overflow] workspace `w` is larger than 2^50 elements"),
    ("large tensors", SUM, "--dim M=1048576 --dim N=1048576", "1 error: the call needs 12.0 TiB for its tensors (X 4.0 TiB, Y 4.0 TiB, Z 4.0 TiB), but may have ..., a quarter of this machine's memory"),
    ("the largest tensors", SUM, "--dim M=2147483647 --dim N=2147483647", "1 error: the call needs 48.0 EiB for its tensors (X 16.0 EiB, Y 16.0 EiB, Z 16.0 EiB), but may have ..., a quarter of this machine's memory"),
    ("extents of 64 bits", LONG, "--arg n=9223372036854775807", "1 error: the call needs ... for its tensors (X ...), but may have ..., a quarter of this machine's memory"),
    # Kernels.
    ("an assertion", CHECKED, "--check --dim N=64 --arg d=1", "1 error: k.tile:4:9: error: assertion failed: q < 50: q is 100 [assert]"),
    ("a division of the kernel", CHECKED, "--check --dim N=64 --arg d=0", "1 error: k.tile:3:17: error: integer division by zero"),
]


def npy(path, shape, dtype, count, size):
    header = f"{{'descr': '<{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(count * size)
    with open(path, "wb") as file:
        file.write(data)
    return data


def make_files(folder):
    os.makedirs(os.path.join(folder, "folder.npy"))
    zeros = npy(os.path.join(folder, "zeros.npy"), "(64,)", "f4", 64, 4)
    npy(os.path.join(folder, "matrix.npy"), "(8, 4)", "f4", 32, 4)
    npy(os.path.join(folder, "f64.npy"), "(64,)", "f8", 64, 8)
    for name, data in {"text": b"one, two, three, four", "short": zeros[:-7], "header": zeros.replace(b"shape", b"shapo")}.items():
        with open(os.path.join(folder, name + ".npy"), "wb") as file:
            file.write(data)


def answer(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    text = (done.stdout + done.stderr).strip()
    text = re.sub(r"^(cpu|emu sm_90a|cuda): ((default|aligned|any); )?", "", text)
    if done.returncode == 2:
        text = re.sub(r"^(tilec|tile-run): error: (.*) \[usage\]\nhelp: see `\1 --help`$", r"\2", text)
    return f"{done.returncode} " + re.sub(r" \(block 0, thread 0\)$", "", text)


def wrong(mistake, folder, binaries):
    """The answers that are not what stands beside the mistake."""
    name, source, options, expected = mistake
    make_files(folder)
    with open(os.path.join(folder, "k.tile"), "w") as file:
        file.write(source)
    environment = dict(os.environ, PATH=binaries + os.pathsep + os.environ["PATH"], NO_COLOR="1", TILE_DEVICE="emu")
    environment.pop("TILE_CUDA_DRIVER", None)
    options = options.split()
    built = [option for option in options if option == "--check"]
    subprocess.run(["tilec", "k.tile", *built, "--arch=sm_90a", "-o", "k.pack"], cwd=folder, env=environment, check=True)
    of_pack = [option for option in options if option not in built]
    commands = [["tilec", "run", "k.tile", f"--on={on}", *options] for on in ("cpu", "emu", "cuda")]
    commands += [["tile-run", "k.pack", f"--on={on}", *of_pack] for on in ("emu", "cuda")]
    pattern = ".*".join(map(re.escape, expected.split("..."))) if "a quarter" in expected else re.escape(expected)
    answers = [(command, answer(command, folder, environment)) for command in commands]
    return [f"{name}: {' '.join(command)}\n    {said}" for command, said in answers if not re.fullmatch(pattern, said)]


def main():
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(2) as pool:
        tasks = [pool.submit(wrong, mistake, os.path.join(top, str(i)), sys.argv[1]) for i, mistake in enumerate(MISTAKES)]
        problems = [problem for task in tasks for problem in task.result()]
    print("\n".join([*problems, f"{len(MISTAKES)} mistakes, {len(problems)} answers that are not as expected"]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
