"""The answer of streams.json, whose numbers are exact in every type. streams.py OUT"""
import json
import pathlib
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "ptx"))
import inputs  # noqa: E402

buffers = json.loads((HERE / "streams.json").read_text())["buffers"]
x, r = (numpy.frombuffer(inputs.input_bytes(buffers[name]["input"]), dtype=numpy.float32) for name in "XR")
x, row, single = x.reshape(64, 32), r[:64, None], r[128:]
difference = x - row
whole = numpy.trunc(x)
positive = numpy.where(whole > 0, whole * whole, 0)
parts = [numpy.minimum(difference * 0.5, 1.5) + abs(row), difference, (x * x + row) + x * x, positive + whole, single * single]
pathlib.Path(sys.argv[1]).write_bytes(b"".join(part.astype(numpy.float32).tobytes() for part in parts))
