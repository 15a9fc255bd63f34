#!/usr/bin/python3
"""inspect_same.py PACK TILEC: do the packs of standard input, `tilec inspect --format=json` of a library, have the kernels that PACK has for its first
architecture?"""
import json
import subprocess
import sys

pack, tilec = sys.argv[1:]
held = json.load(sys.stdin)
whole = json.loads(subprocess.run([tilec, "inspect", "--format=json", pack], check=True, capture_output=True, text=True).stdout)
arch = held["packs"][0]["architectures"][0]
for kernel in whole["kernels"]:
    kernel["configurations"] = [one for one in kernel["configurations"] if one["arch"] == arch]
assert len(held["packs"]) == 1 and held["packs"][0]["kernels"] == whole["kernels"] != []
print(f"{held['kind']} for {held['machine']}: the kernels of the pack")
