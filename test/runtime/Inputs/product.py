"""Packs of a kernel `product` for the fake driver, one for each order and types: `nt_f16_f32.pack` has B stored [N, K]. usage: product.py FOLDER"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TOOL = HERE.parents[2] / "tools/dev/pack_tool.py"
ORDERS = {
    "nn": ("MK", "KN", "MN"), "nt": ("MK", "NK", "MN"), "tn": ("KM", "KN", "MN"),
    "batch": ("LMK", "LKN", "LMN"), "vector": ("MK", "K", "M"),
}
PACKS = [("nn", "f16", "f16"), ("nn", "bf16", "f32"), ("nt", "f16", "f16"), ("tn", "f16", "f16"), ("nn", "f32", "f32"),
         ("nn", "f64", "f64"), ("nn", "f32", "f16"), ("nn", "i8", "i32"), ("nn", "e4m3", "bf16"), ("nt", "e4m3", "bf16"),
         ("batch", "f16", "f16"), ("vector", "f16", "f16")]


def manifest(order, operand, result):
    letters = ORDERS[order]
    arguments, sources = [], {}
    for name, dims, dtype in zip("ABC", letters, (operand, operand, result)):
        arguments.append({"name": name, "kind": "tensor", "dtype": dtype, "direction": "out" if name == "C" else "in",
                          "extents": [{"dim": d} for d in dims], "strided": len(dims) > 1})
        for axis, dim in enumerate(dims):
            sources.setdefault(dim, {"arg": name, "axis": axis})
    return {
        "format": 2, "tilec": "by hand", "source_hash": "0",
        "modules": [{"arch": "sm_90a", "kind": "ptx", "offset": 0, "bytes": 0}],
        "kernels": [{
            "symbol": "product", "source_kernel": "product", "params": {}, "arguments": arguments,
            "dims": [{"name": d, "type": "i32", "source": s} for d, s in sources.items()], "checks": [],
            "configurations": [{"host": [{"launch": {
                "name": "product.0", "grid": [2],
                "variants": [{"name": "plain", "module": 0, "entry": "product", "block": [256, 1, 1], "params": []}]}}]}]}]}


for pack in PACKS:
    path = pathlib.Path(sys.argv[1], "_".join(pack))
    path.with_suffix(".json").write_text(json.dumps(manifest(*pack)))
    subprocess.run([sys.executable, str(TOOL), "make", str(path.with_suffix(".json")), str(HERE / "empty.ptx"),
                    "-o", str(path.with_suffix(".pack"))], check=True)
