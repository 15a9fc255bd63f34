#!/usr/bin/python3
"""inspect_pack.py TILEC FILE.tile FOLDER OPTION...: has `tilec inspect --format=json` of a pack what `--emit=manifest` of the same kernels has?"""
import json
import pathlib
import subprocess
import sys

COPIED = ["name", "entry", "module", "block", "blocks", "shared_bytes"]


def launches(host):
    for statement in host:
        (key, value), = statement.items()
        if key == "launch":
            yield value
        elif key == "if":
            yield from launches(value["then"])
            yield from launches(value.get("else", []))


def compare(kernel, seen):
    for key in ["symbol", "source_kernel", "params"]:
        assert seen[key] == {name: value if isinstance(value, str) else json.dumps(value) for name, value in kernel[key].items()} if key == "params" else kernel[key], key
    assert [argument["name"] for argument in seen["arguments"]] == [argument["name"] for argument in kernel["arguments"]]
    assert seen["checks"] == [check["text"] for check in kernel["checks"]]
    assert len(seen["configurations"]) == len(kernel["configurations"])
    count = 0
    for ours, theirs in zip(seen["configurations"], kernel["configurations"]):
        assert [list(statement) for statement in ours["host"]] == [list(statement) for statement in theirs["host"]]
        pairs = list(zip(launches(ours["host"]), launches(theirs["host"]), strict=True))
        for one, other in pairs:
            assert one["name"] == other["name"] and len(one["grid"]) == len(other["grid"])
            for variant, recorded in zip(one["variants"], other["variants"], strict=True):
                assert all(variant[key] == recorded[key] for key in COPIED), (variant, recorded)
                assert all(variant[key] == value for key, value in recorded["resources"].items()), (variant, recorded)
                assert ("guard" in variant) == (recorded.get("guard") is not None)
                assert variant["cluster"] == (recorded.get("cluster") or [1, 1, 1])
                assert variant["tensor_maps"] == len(recorded.get("tensor_maps", []))
                count += 1
    return count


def main():
    tilec, source, folder, *options = sys.argv[1:]
    pack = pathlib.Path(folder, "k.pack")
    subprocess.run([tilec, source, *options, "-o", pack], check=True)
    subprocess.run([tilec, source, *options, "-o", pack.with_suffix(".json")], check=True)
    manifest = json.loads(pack.with_suffix(".json").read_text())
    seen = json.loads(subprocess.run([tilec, "inspect", "--format=json", pack], check=True, capture_output=True, text=True).stdout)
    assert seen["kind"] == "pack" and seen["bytes"] == pack.stat().st_size and seen["tilec"] == manifest["tilec"]
    assert seen["source_hash"] == manifest["source_hash"]
    count = sum(compare(*pair) for pair in zip(manifest["kernels"], seen["kernels"], strict=True))
    print(f"{count} variants are those of the manifest")


if __name__ == "__main__":
    main()
