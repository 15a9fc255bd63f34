"""What the gemm kernels compute, in numpy and float64.

    reference.py FOLDER M N K               writes A.npy, B.npy (f16, seeded) and C_reference.npy (f64)
    reference.py --compare OUT.npy REF.npy  prints the relative error and the corner of both
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode  # noqa: E402

TOLERANCE = 1e-3  # ||out - ref|| / ||ref|| of f16 results


def gemm(A, B, T=None, **_):
    """C[M, N] = A[M, K] * B[K, N]: inputs by name in, outputs by name out."""
    return {"C": decode(A, T) @ decode(B, T)}


def gemm_nt(A, B, T=None, **_):
    """B stored [N, K]."""
    return {"C": decode(A, T) @ decode(B, T).T}


def gemm_tn(A, B, T=None, **_):
    """A stored [K, M]."""
    return {"C": decode(A, T).T @ decode(B, T)}


def gemm_tt(A, B, T=None, **_):
    """A stored [K, M], B stored [N, K]."""
    return {"C": decode(A, T).T @ decode(B, T).T}


def gemm_e4m3(A, B, T="e4m3", **_):
    """Both operands 8-bit floats, B stored [N, K]."""
    return gemm_nt(A, B, T)


def write_case(folder, m, n, k):
    random = np.random.default_rng(1)
    a = random.standard_normal((m, k)).astype(np.float16)
    b = random.standard_normal((k, n)).astype(np.float16)
    np.save(os.path.join(folder, "A.npy"), a)
    np.save(os.path.join(folder, "B.npy"), b)
    np.save(os.path.join(folder, "C_reference.npy"), gemm(a, b)["C"])


def compare(out_path, reference_path):
    out = np.load(out_path).astype(np.float64)
    reference = np.load(reference_path)
    error = np.linalg.norm(out - reference) / np.linalg.norm(reference)
    print("kernel, upper left corner:\n%s" % out[:2, :4])
    print("numpy, upper left corner:\n%s" % reference[:2, :4])
    print("||out - ref|| / ||ref|| = %.3g, allowed %g" % (error, TOLERANCE))
    return error <= TOLERANCE


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        sys.exit(0 if compare(sys.argv[2], sys.argv[3]) else 1)
    write_case(sys.argv[1], *(int(text) for text in sys.argv[2:5]))
