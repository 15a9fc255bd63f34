"""Pipelined loops of several products, whose schedules reorder what the loop says: files for `kept.py`, compared with the cpu target.

The other programs are held against an interpreter that bounds every element; sums that feed each other through f16 for several iterations are beyond
its bounds. Here all values stay small by construction, and outputs are compared as a whole."""
import os
import random
import re

from . import kept
from .run import Failure

COPIES = {
    "Ks": "copy(K[k * 64, 0], Ks);",
    "Vs": "copy(V[k * 64, 0], Vs);",
    "Ws": "copy(W[k * 64, 0], Ws);",
    "Xs": "copy(X[k * 64, 0], Xs);",
}
# The buffer that a statement reads, its weight, its text; NEW is another name in each statement.
STATEMENTS = [
    ("Ks", 2, "gemm(Qs, Ks, s, transpose_b = true, accumulate = false);"),
    ("Ks", 2, "gemm(Qs, Ks, s, transpose_b = true, accumulate = false);"),
    ("Vs", 2, "gemm(Qs, Vs, x);"),
    ("Ks", 1, "gemm(Qs, Ks, x2);"),
    ("Vs", 2, "let NEW = f16(s); gemm(NEW, Vs, o); o = clamp(o, -2.0, 2.0);"),
    ("Vs", 2, "let NEW = f16(s); gemm(NEW, Vs, o);"),
    ("Ks", 2, "let NEW = f16(s); gemm(NEW, Ks, o);"),
    ("Ks", 2, "let NEW = f16(y); gemm(NEW, Ks, y, transpose_b = true, accumulate = false);"),
    # What a product begins with, and the sum of before beside it.
    ("Vs", 1, "let NEW = o; o = o * 0.5; gemm(f16(clamp(NEW, -1.0, 1.0)), Vs, o); o = clamp(o, -2.0, 2.0);"),
    ("Vs", 1, "let NEW = s; parallel (i, j) in s { if j > i { s[i, j] = 0.1; } } gemm(f16(clamp(NEW, -1.0, 1.0)), Vs, s); s = clamp(s, -2.0, 2.0);"),
    ("Vs", 1, "let NEW = s; parallel (i, j) in s { s[i, j] = s[i, j] * (j > i + (k & 1) ? 0.5 : 1.0); } gemm(f16(clamp(NEW, -1.0, 1.0)), Vs, s); s = clamp(s, -2.0, 2.0);"),
    ("Vs", 1, "let NEW = s; parallel (i, j) in s { if j > i { s[i, j] = 0.1; } if j == i + 1 { s[i, j] = s[i, j] * 0.5; } } gemm(f16(clamp(NEW, -1.0, 1.0)), Vs, s); s = clamp(s, -2.0, 2.0);"),
    ("Ks", 1, "let NEW = y; gemm(Qs, Ks, y, transpose_b = true, accumulate = false); y = y * 0.5 + NEW * 0.1;"),
    # Whole words of the operand are the same number in all rounds.
    ("Vs", 1, "parallel (i, j) in s { if i % 16 != j % 16 { s[i, j] = 0.0; } } let NEW = f16(max(s, 0.0)); gemm(NEW, Vs, o);"),
    ("", 1, "s = exp2(clamp(s, -2.0, 1.0));"),
    ("", 1, "s = exp2(clamp(s, -2.0, 1.0)) * 0.3;"),
    ("", 1, "s = exp2(clamp(s, -2.0, 1.0)) - r[:, _];"),
    ("", 1, "s = s * 0.5 + o * 0.1;"),
    ("", 1, "y = y * 0.5 + s * 0.1;"),
    ("", 1, "o = o * (0.5 + r[:, _] * 0.01);"),
    # Factors that are 1 in some warps: they go round the multiplications.
    ("", 1, "o = o * r[:, _];"),
    ("", 1, "let NEW = k % 2 == 0 ? r : 1.0; x = x * NEW[:, _];"),
    ("", 1, "r = clamp(reduce_max(s, axis = 1), -1.0, 1.0);"),
    ("", 1, "r2 = r2 * 0.5 + reduce_sum(s, axis = 1) * 0.01;"),
    ("", 1, "let NEW = r; r = r2; r2 = NEW;"),
    ("Ws", 1, "y += f32(Ws) * 0.3;"),
    ("Xs", 1, "y = y + exp2(Xs);"),
    ("Xs", 1, "s = s + Xs;"),
    ("", 1, "Ps = f16(s);"),
    ("Vs", 2, "gemm(Ps, Vs, o); o = clamp(o, -2.0, 2.0);"),
    ("", 1, "if k % 2 == 0 { s = s + 0.25; }"),
    ("", 1, "if k > 1 { parallel (i, j) in s { if i > j + k { s[i, j] = 0.0; } } }"),
    ("", 1, "copy(o, O2[k * 64, 0]);"),
    ("", 1, "copy(s, O3[(k + a % 3) * 64, 0]);"),
    ("", 1, "copy(r, RR[k, 0]);"),
    ("", 1, "copy(X[k * 64, 0], z); y = y + z * 0.1;"),
    ("", 1, "copy(X[k * 64, 0], z);"),
    ("", 1, "y = y + z * 0.1;"),
    ("", 1, "for t in 0..2 { y = y * 0.5 + s * f32(t); }"),
    ("", 1, "a = a + k;"),
    ("", 1, "let NEW = a; a = b; b = NEW;"),
    ("", 1, "a = I[k];"),
    ("", 1, "o = o + f32(b) * 0.001;"),
    ("", 1, "y = transpose(s);"),
    ("", 1, "cn[k] = f32(a) + r[3];"),
    ("", 1, "threads(t: 128) { if t < 64 { cn[t] = cn[t] * 0.5 + f32(k); } }"),
    ("", 1, "r = r * 0.5 + cn * 0.01;"),
    ("", 1, "if k == 1 { copy(y, O2[k * 64, 0]); }"),
    ("", 1, "IO[k * 2] = a; a = a + IO[k];"),
    ("", 1, "atomic_add(CNT[k % 4], 1);"),
    ("Vs", 0.15, "if k != 1 { gemm(Qs, Vs, o); }"),
]
SCRATCH = re.compile(r"\b(Ps|cn|IO|CNT)\b")  # shared memory that threads write, global memory that is written and read again
INNER = [
    "gemm(Qs, Ns, y);",
    "y += f32(Ns) * 0.1;",
    "gemm(Qs, Ns, y, transpose_b = true, accumulate = false); y = exp2(clamp(y, -2.0, 1.0)); let NEW = f16(y); gemm(NEW, Ns, o);",
]
HEAD = """kernel k(Q: tensor<f16>[M, 64], K: tensor<f16>[N, 64], V: tensor<f16>[N, 64], W: tensor<f16>[N, 64], X: tensor<f32>[N, 64], I: tensor<i32>[64],
         J: tensor<i32>[64], O: out tensor<f32>[M, 64], O2: inout tensor<f32>[2048, 64], O3: inout tensor<f32>[2048, 64],
         RR: inout tensor<f32>[64, 64], IO: inout tensor<i32>[128], CNT: inout tensor<i32>[4], F: out tensor<f32>[M, 64], G: out tensor<f32>[M],
         lo: i32, hi: i32) {"""
FIRST = """        shared Qs: f16[64, 64];
        shared Ps: f16[64, 64] = 0;
        shared cn: f32[64] = 1;
        fragment s: f32[64, 64] = 0.25;
        fragment o: f32[64, 64] = 0.5;
        fragment x: f32[64, 64] = 0.1;
        fragment x2: f32[64, 64] = 0.1;
        fragment y: f32[64, 64] = 0.2;
        fragment z: f32[64, 64] = 0.3;
        fragment r: f32[64] = 0.5;
        fragment r2: f32[64] = 0.7;
        var a: i32 = 3;
        var b: i32 = 7;
        copy(Q[by * 64, 0], Qs);"""
LAST = """        o += x + x2 + y * 0.5 + r[:, _] + f32(a + b) * 0.01;
        copy(o, O[by * 64, 0]);
        copy(s + z, F[by * 64, 0]);
        copy(r2 + cn, G[by * 64]);"""
TENSORS = (
    "Q=in:f16[64,64]:tenths K=in:f16[384,64]:tenths V=in:f16[384,64]:tenths W=in:f16[384,64]:tenths X=in:f32[384,64]:tenths I=in:i32[64]:few "
    "J=in:i32[64]:few O=out:f32[64,64] O2=inout:f32[2048,64]:tenths O3=inout:f32[2048,64]:tenths RR=inout:f32[64,64]:tenths IO=inout:i32[128]:few "
    "CNT=inout:i32[4]:few F=out:f32[64,64] G=out:f32[64]"
)


class Loop:
    """What a seed draws: statements of the loop, and what is around it."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.seed = seed
        self.roles = rng.choices(["", "producer", "operations"], [3, 4, 4])[0]
        # Only what is done to fragments has roles of its own.
        self.has_scratch = self.roles != "operations" or rng.random() < 0.1
        statements = [s for s in STATEMENTS if self.has_scratch or not SCRATCH.search(s[2])]
        chosen = rng.choices(statements, [weight for _, weight, _ in statements], k=rng.randint(3, 9))
        if rng.random() < 0.7:
            chosen.insert(0, STATEMENTS[0])
        self.statements = [(buffer, re.sub(r"\bNEW\b", f"n{i}", text)) for i, (buffer, _, text) in enumerate(chosen)]
        self.order = rng.sample(sorted(COPIES), len(COPIES))
        # Loops that TMA and cp.async fill, also in one that TMA fills.
        self.by_threads = {name for name in self.order + ["Ns"] if rng.random() < (0.25 if name == "Ns" else 0.06)}
        self.indirect = rng.random() < 0.2
        self.stages = rng.choice([1, 2, 2, 3, 3, 4])
        self.around = rng.choices(["", "for w in 0..2 ", "if lo >= 0 "], [7, 2, 1])[0]
        self.annotations = ["@persistent"] if rng.random() < 0.2 else []
        self.annotations += [f"@warp_specialize({self.roles})"] if self.roles else []
        if rng.random() < 0.15:
            inner = rng.choice(INNER).replace("NEW", "inner")
            text = f"for t in pipelined(0..(k + 1) % 3, stages = {rng.choice([1, 2, 3])}) {{ {'@no_tma ' if 'Ns' in self.by_threads else ''}copy(W[(k + t) * 64, 0], Ns); {'copy(V[t * 64, 0], Ms); y += f32(Ms) * 0.05; ' if rng.random() < 0.3 else ''}{inner} }}"
            self.statements.insert(rng.randint(0, len(self.statements)), ("", text))
        self.hold = rng.choice([0, 0, 0, 1, 20, 50, 99, 100])
        self.trips = rng.choice([(0, 0), (0, 1), (0, 2), (1, 5), (0, 3), (0, 6)])
        self.drawn = rng.randint(1, 10**6) if rng.random() < 0.6 else 0
        # A buffer that is filled in front of the loop, too: the rows once more, or one of the loop's.
        self.filled_before = rng.choices(["", "Qs", *self.order], [10, 2, *[0.3] * len(self.order)])[0]

    def text(self):
        used = [name for name in self.order if any(name == buffer for buffer, _ in self.statements)]
        copies = ["@no_tma " * (name in self.by_threads) + (COPIES[name].replace("k * 64", "J[k] * 64") if self.indirect and name == "Ks" else COPIES[name]) for name in used]
        buffers = [f"        shared {name}: {'f32' if name == 'Xs' else 'f16'}[64, 64];" for name in used]
        buffers += [f"        shared {name}: f16[64, 64];" for name in ("Ns", "Ms") if any(name in text for _, text in self.statements)]
        lines = [f"// run: seed={self.seed} call=0 M=64 N=384 lo={self.trips[0]} hi={self.trips[1]} {TENSORS}", "// tolerance: 0.01"]
        if self.drawn:
            lines.append(f"// compile: --random-schedules={self.drawn}")
        first, last = FIRST, LAST
        if not self.has_scratch:
            first = "".join(line for line in FIRST.splitlines(keepends=True) if not SCRATCH.search(line))
            last = LAST.replace("r2 + cn", "r2")
        lines += [HEAD, f"    {' '.join([*self.annotations, 'launch by in grid(ceildiv(M, 64)) threads(128) {'])}", first, *buffers]
        filled = {**COPIES, "Qs": "copy(Q[by * 64, 0], Qs);"}[self.filled_before].replace("k * 64", "0") + " " if self.filled_before in ["Qs", *used] else ""
        lines.append(f"        {self.around}{'{ ' if self.around else ''}{filled}for k in pipelined(lo..hi, stages = {self.stages}{f', hold = {self.hold}' if self.hold else ''}) {{")
        lines += [f"            {line}" for line in [*copies, *(text for _, text in self.statements)]]
        lines += ["        }" + (" }" if self.around else ""), last, "    }", "}"]
        return "\n".join(lines) + "\n"


def run(tools, loop, path):
    with open(path, "w") as file:
        file.write(loop.text())
    outcome = kept.replay(tools, path, path + ".run")
    # A loop that GPU targets refuse for a stated reason is no failure.
    outcome.failures = [f for f in outcome.failures if f.kind != "refused"]
    return outcome


def shrink(tools, loop, failure: Failure, path):
    """Without the statements that it fails in the same way without."""
    for at in reversed(range(len(loop.statements))):
        statement = loop.statements.pop(at)
        if not any(f.kind == failure.kind for f in run(tools, loop, path).failures):
            loop.statements.insert(at, statement)
    return loop


def run_seed(arguments):
    tools, seed, base, keep = arguments
    os.makedirs(base, exist_ok=True)
    path, loop = os.path.join(base, f"loop{seed}.tile"), Loop(seed)
    outcome = run(tools, loop, path)
    if outcome.failures and keep:
        os.makedirs(keep, exist_ok=True)
        text = shrink(tools, loop, outcome.failures[0], path).text()
        with open(os.path.join(keep, f"loop{seed}.tile"), "w") as file:
            file.write(f"// {outcome.failures[0].kind}\n{text}")
    return seed, outcome
