"""Looks for pairs that the lists of cases.py lack: pairs.py FOLDER."""
import itertools
import sys

sys.path.insert(0, sys.argv[1])
import cases  # noqa: E402

for _, kernel, begin, lists in cases.PAIRS:
    lines = [set(cases.line("", choice).split("; ")) for choice in cases.pairwise(*lists)]
    for a, b in itertools.combinations(lists, 2):
        for x, y in itertools.product(a, b):
            assert any({*x.split("; "), *y.split("; ")} <= line for line in lines), (kernel, x, y)
    assert len(lists) == 1 or len(lines) < 60, (kernel, len(lines))
