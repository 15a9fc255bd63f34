"""What kernel `turns` of issue-in-turn.tile gives."""
import numpy as np


def turns(A, B, V, times, **_):
    scores = A.astype(np.float64) @ B.astype(np.float64).T
    top = np.max(np.abs(scores), axis=1, initial=-1.0)
    return {"C": times * (scores / np.maximum(top, 0.001)[:, None]) @ V.astype(np.float64)}
