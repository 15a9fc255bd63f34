"""What each point of a grid adds to the place of its own."""
import numpy as np


def added(shape, factors):
    return 1 + sum(np.indices(shape)[axis] * factor for axis, factor in enumerate(factors))


def counted(C, D, E, **_):
    rows = added(D.shape, (100, 1))
    return {"C": C + added(C.shape, (10000, 100, 1)), "D": D + rows, "E": E + rows}


def counted_dynamic(C, **_):
    return {"C": C + added(C.shape, (1000000, 100000, 10000, 100, 1))}
