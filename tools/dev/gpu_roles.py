#!/usr/bin/env python3
"""Attention and gemm with one role of warps and with a role that loads, beside cuDNN and cuBLAS: right, and how fast.

    gpu_roles.py prepare DIR      here: packs, tile-run and this script into DIR
    gpu_roles.py run DIR [KIND]   on a GPU machine with torch: nothing is built there; KIND: attention or gemm alone

The kernels are kernels/attention/flash_attention.tile and test/driver/Inputs/even_gemm.tile, with `@warp_specialize(off)` and `(producer)`, and attention
with a tile for each grid point, those with the most keys of a head first, which a counter deals out (`@persistent(dynamic)`). Each is
compared with torch in float64 at shapes that fit no tile, twice bit by bit, then timed: L2 flushed, in turn with torch's kernel, medians.
The last figure of each kernel is torch's time divided by ours.
"""
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
NARROW = "D = 64, BM = 192, STAGES = 4, THREADS = 384"
ATTENTION = [("128", "BN = 160"), ("128c", "CAUSAL = true"), ("64", NARROW), ("64c", NARROW + ", CAUSAL = true")]
GEMM = [
    ("128x256", "BM = 128, BN = 256, BK = 64, STAGES = 4, THREADS = 256"),
    ("128x128", "BM = 128, BN = 128, BK = 64, STAGES = 6, THREADS = 256"),
    ("128x192", "BM = 128, BN = 192, BK = 64, STAGES = 4, THREADS = 256"),
    ("64x128", "BM = 64, BN = 128, BK = 64, STAGES = 8, THREADS = 128"),
]
ATTENTION_TIMED = [(2, 32, 2048, 128, False), (2, 32, 2048, 128, True), (1, 32, 16384, 128, False), (1, 32, 16384, 128, True),
                   (4, 32, 4096, 64, False), (4, 32, 4096, 64, True)]
GEMM_TIMED = [(4096, 4096, 4096), (8192, 8192, 8192), (4096, 28672, 4096), (2048, 2048, 2048)]
ROLES = ["off", "producer"]
ATTENTION_ROLES = [*ROLES, "counter"]


def sources(root):
    """(name of the pack, text) of each kernel with each word."""
    attention = (root / "kernels/attention/flash_attention.tile").read_text()
    gemm = (root / "test/driver/Inputs/even_gemm.tile").read_text()
    for word in ROLES:
        for name, text, kernel, settings in (("attention", attention, "flash_attention", ATTENTION), ("gemm", gemm, "gemm", GEMM)):
            text = re.sub(r"(?m)^instantiate.*\n", "", text)
            text = re.sub(r"@warp_specialize\(\w+\)", "", text)
            text = re.sub(r"(?m)^(\s*)(@persistent.*\n\s*)?launch", rf"\1@warp_specialize({word}) \2launch", text, count=1)
            for suffix, more in (("counter", ", COUNTER = true"), (word, ", COUNTER = false")) if name == "attention" else ((word, ""),):
                if suffix == word or word == "producer":
                    yield f"{name}-{suffix}", text + "".join(f"instantiate {kernel}<{p}{more}> as k{s};\n" for s, p in settings)


def prepare(out):
    root = HERE.parents[2]
    out.mkdir(parents=True, exist_ok=True)
    for name, text in sources(root):
        (out / f"{name}.tile").write_text(text)
        subprocess.run([root / "build/bin/tilec", out / f"{name}.tile", "--arch=sm_90a", "-o", out / f"{name}.pack"], check=True)
    for file in (root / "build/bin/tile-run", root / "build/lib/libtile_rt.so", HERE):
        shutil.copy(file, out)


def tile_run(out, pack, kernel, options):
    command = [out / "tile-run", out / f"{pack}.pack", "--on=cuda", f"--kernel=k{kernel}", *options]
    done = subprocess.run(command, capture_output=True, text=True, env={"LD_LIBRARY_PATH": str(out)})
    return done.returncode, done.stdout + done.stderr


def ours(out, pack, kernel, options):
    """Microseconds; None with what tile-run says where it fails."""
    status, text = tile_run(out, pack, kernel, [*options, "--repeat=20", "--warmup=3", "--flush-l2"])
    found = re.search(r"([0-9.]+) ms \(median", text)
    if status != 0 or not found:
        print(f"{pack} k{kernel}: {text[-300:]}")
        return None
    return float(found[1]) * 1000


class Gpu:
    def __init__(self, out):
        import torch

        self.out, self.torch = out, torch
        self.flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")

    def normal(self, *shape):
        return self.torch.randn(*shape, device="cuda", dtype=self.torch.half)

    def flushed(self, function):
        times = []
        for i in range(23):
            self.flush.zero_()
            begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            function()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1000)
        return sorted(times[3:])[10]

    def check(self, pack, kernel, tensors, expected, options):
        import numpy

        for name, tensor in {**tensors, expected[0]: expected[1]}.items():
            numpy.save(self.out / f"{name}.npy", tensor.cpu().numpy())
        given = [f"--arg={name}={self.out / name}.npy" for name in tensors]
        status, text = tile_run(self.out, pack, kernel, [*given, f"--expect={expected[0]}={self.out / expected[0]}.npy", "--twice", *options])
        if status != 0:
            print(f"{pack} k{kernel} {[tuple(t.shape) for t in tensors.values()]}: WRONG {text[-300:]}")
        return status != 0

    def check_attention(self, pack, kernel):
        torch, d, wrong = self.torch, int(kernel.rstrip("c")), 0
        for b, h, hkv, s, sk in ((1, 2, 1, 128, 128), (2, 4, 2, 200, 333), (1, 2, 2, 1, 65), (1, 2, 2, 300, 1000), (1, 1, 1, 129, 64)):
            q, k, v = self.normal(b, h, s, d), self.normal(b, hkv, sk, d), self.normal(b, hkv, sk, d)
            keys, values = (t.double().repeat_interleave(h // hkv, 1) for t in (k, v))
            scores = q.double() @ keys.transpose(-1, -2) / d**0.5
            if kernel.endswith("c"):
                rows, columns = torch.arange(s, device="cuda")[:, None], torch.arange(sk, device="cuda")
                scores = scores.masked_fill(columns > rows + sk - s, -float("inf"))
            o = (torch.nan_to_num(torch.softmax(scores, -1), 0.0) @ values).half()
            wrong += self.check(pack, kernel, {"Q": q, "K": k, "V": v}, ("O", o), [f"--arg=scale={d**-0.5}", "--arg=LSE=none", "--tolerance=2e-3"])
        return wrong

    def check_gemm(self, pack, kernel):
        wrong = 0
        for m, n, k in ((128, 256, 64), (136, 264, 72), (1, 8, 8), (1000, 1000, 1000), (77, 200, 136), (512, 512, 4096)):
            a, b = self.normal(m, k), self.normal(k, n)
            wrong += self.check(pack, kernel, {"A": a, "B": b}, ("C", (a.double() @ b.double()).half()), ["--tolerance=1e-3"])
        return wrong

    def report(self, title, kernels, function, options):
        times = {}
        for _ in range(3):
            times.setdefault("torch", []).append(self.flushed(function))
            for pack, kernel in kernels:
                times.setdefault(f"{pack.partition('-')[2]} {kernel}", []).append(ours(self.out, pack, kernel, options) or 0.0)
        medians = {name: sorted(t)[1] for name, t in times.items()}
        print(title + ":", "; ".join(f"{n} {t:.1f} us {medians['torch'] / t if t else 0:.3f}" for n, t in medians.items()), flush=True)

    def time_attention(self, b, h, s, d, causal):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        q, k, v = (self.normal(b, h, s, d) for _ in range(3))

        def peer():
            with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
                self.torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        kernels = [(f"attention-{word}", f"{d}{'c' if causal else ''}") for word in ATTENTION_ROLES]
        dims = {"B": b, "H": h, "HKV": h, "S": s, "SK": s}
        options = [*(f"--dim={n}={x}" for n, x in dims.items()), f"--arg=scale={d**-0.5}", "--arg=LSE=none"]
        self.report(f"attention b{b} h{h} s{s} d{d}{' causal' if causal else ''}", kernels, peer, options)

    def time_gemm(self, m, n, k):
        a, b = self.normal(m, k), self.normal(k, n)
        kernels = [(f"gemm-{word}", name) for name, _ in GEMM for word in ROLES]
        self.report(f"gemm {m}x{n}x{k}", kernels, lambda: a @ b, [f"--dim=M={m}", f"--dim=N={n}", f"--dim=K={k}"])


def run(out, kinds):
    gpu = Gpu(out)
    print(gpu.torch.cuda.get_device_name())
    wrong = 0
    if "attention" in kinds:
        wrong += sum(gpu.check_attention(f"attention-{word}", name) for word in ATTENTION_ROLES for name, _ in ATTENTION)
    if "gemm" in kinds:
        wrong += sum(gpu.check_gemm(f"gemm-{word}", name) for word in ROLES for name, _ in GEMM)
    print("all right" if wrong == 0 else f"{wrong} wrong", flush=True)
    for shape in ATTENTION_TIMED if "attention" in kinds else []:
        gpu.time_attention(*shape)
    for shape in GEMM_TIMED if "gemm" in kinds else []:
        gpu.time_gemm(*shape)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("prepare", "run") or sys.argv[3:] not in ([], ["attention"], ["gemm"]):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2]).resolve()
    sys.exit(prepare(folder) if sys.argv[1] == "prepare" else run(folder, sys.argv[3:] or ["attention", "gemm"]))
