"""Descriptions of launches, and the inputs that they ask for: the same bytes here, in test/ptx/Inputs.cpp and on a GPU machine.
README.md beside this file says what a description holds.
"""
import json
import struct

ALIGN = 256  # each segment of an input begins at a multiple of this; the gaps are zero
FILL = 0xCD  # what buffers without input hold before the launch
MASK64 = (1 << 64) - 1


def splitmix64(seed, index):
    z = (seed * 0x100000001B3 + (index + 1) * 0x9E3779B97F4A7C15) & MASK64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
    return z ^ (z >> 31)


def encode_real(kind, value):
    """Bytes of a number that the type holds exactly."""
    if kind == "f16":
        return struct.pack("<e", value)
    if kind == "bf16":
        return struct.pack("<f", value)[2:]
    return struct.pack("<f" if kind == "f32" else "<d", value)


def segment_bytes(segment):
    if "real" in segment:
        half, scale = 1 << (segment["bits"] - 1), 2.0 ** segment["shift"]
        known = {}
        data = []
        for i in range(segment["count"]):
            number = splitmix64(segment["seed"], i) & (2 * half - 1)
            if number not in known:
                known[number] = encode_real(segment["real"], (number - half) * scale)
            data.append(known[number])
        return b"".join(data)
    width = segment["width"]
    mask = (1 << (8 * width)) - 1
    if "random" in segment:
        keep, force = segment.get("and", mask), segment.get("or", 0)
        values = (splitmix64(segment["seed"], i) & keep | force for i in range(segment["random"]))
    elif "list" in segment:
        items, repeat = segment["list"], segment.get("repeat", 1)
        values = (items[i // repeat % len(items)] for i in range(segment["count"]))
    else:
        values = (segment["from"] + i * segment["step"] for i in range(segment["steps"]))
    return b"".join((value & mask).to_bytes(width, "little") for value in values)


def segment_size(segment):
    if "real" in segment:
        return segment["count"] * {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}[segment["real"]]
    return segment["width"] * segment.get("random", segment.get("count", segment.get("steps")))


def input_bytes(segments):
    data = bytearray()
    for segment in segments:
        data += bytes(-len(data) % ALIGN)
        data += segment_bytes(segment)
    return bytes(data)


def buffer_bytes(buffer):
    """What a buffer of a description holds before the launch."""
    if "input" in buffer:
        return input_bytes(buffer["input"])
    return bytes([buffer.get("fill", FILL)]) * buffer["bytes"]


def is_result(buffer):
    return buffer.get("result", "input" not in buffer)


def read_description(path):
    """(description, text of the PTX) of a .ptx with a description in its head, or with one beside it in a .json."""
    text = path.read_text()
    beside = path.with_suffix(".json")
    if beside.exists():
        return json.loads(beside.read_text()), text
    return json.loads("".join(line[3:] for line in text.splitlines() if line.startswith("//!"))), text
