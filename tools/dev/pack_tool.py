#!/usr/bin/env python3
"""Takes packs apart and puts them together (docs/pack.md), for people who work on the compiler or the runtime.

    pack_tool.py show PACK                         the manifest, indented
    pack_tool.py modules PACK DIR                  each module as a file in DIR, and its PTX
    pack_tool.py make MANIFEST.json MODULE... -o PACK
        the manifest's modules get the offsets and sizes of the files, in order; without "ptx"
"""
import argparse
import json
import pathlib
import struct
import sys

HEADER = struct.Struct("<8sIIQQ")
ALIGN = 16


def pad(data):
    return data + bytes(-len(data) % ALIGN)


def split(data):
    magic, version, _, manifest_bytes, body_bytes = HEADER.unpack_from(data)
    if magic != b"TILEPACK" or version != 1:
        sys.exit("not a pack of version 1")
    body = HEADER.size + manifest_bytes + (-(HEADER.size + manifest_bytes) % ALIGN)
    if len(data) - body != body_bytes:
        sys.exit("the size of the file is not what its header says")
    return json.loads(data[HEADER.size:HEADER.size + manifest_bytes]), data[body:]


def make(manifest, modules):
    body = b""
    if len(manifest["modules"]) != len(modules):
        sys.exit(f"the manifest has {len(manifest['modules'])} modules, {len(modules)} files were given")
    for entry, data in zip(manifest["modules"], modules):
        body = pad(body)
        entry["offset"], entry["bytes"] = len(body), len(data)
        entry.pop("ptx", None)
        body += data
    text = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
    return pad(HEADER.pack(b"TILEPACK", 1, 0, len(text), len(body)) + text) + body


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show")
    show.add_argument("pack", type=pathlib.Path)
    modules = commands.add_parser("modules")
    modules.add_argument("pack", type=pathlib.Path)
    modules.add_argument("dir", type=pathlib.Path)
    maker = commands.add_parser("make")
    maker.add_argument("manifest", type=pathlib.Path)
    maker.add_argument("modules", nargs="*", type=pathlib.Path)
    maker.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    if args.command == "make":
        args.out.write_bytes(make(json.loads(args.manifest.read_text()), [m.read_bytes() for m in args.modules]))
        return
    manifest, body = split(args.pack.read_bytes())
    if args.command == "show":
        print(json.dumps(manifest, indent=2, ensure_ascii=False))
        return
    args.dir.mkdir(parents=True, exist_ok=True)
    for i, module in enumerate(manifest["modules"]):
        path = args.dir / f"{args.pack.stem}.{i}.{module['arch']}.{module['kind']}"
        path.write_bytes(body[module["offset"]:module["offset"] + module["bytes"]])
        print(path)
        if "ptx" in module:
            path = args.dir / f"{args.pack.stem}.{i}.{module['arch']}.lines.ptx"
            path.write_bytes(body[module["ptx"]["offset"]:module["ptx"]["offset"] + module["ptx"]["bytes"]])
            print(path)


if __name__ == "__main__":
    main()
