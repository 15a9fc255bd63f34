#!/usr/bin/env python3
"""Runs the PTX programs of test/ptx on a GPU and stores what they compute.

    gpu_probes.py FOLDER... [--out DIR] [--answers DIR] [--jobs N] [--only TEXT]

Each FOLDER holds .ptx files with descriptions (test/ptx/README.md). The driver compiles the text. Every program is run twice,
in a process that is started anew after a failure. Where the description names an error, each launch has a process of its own,
since nothing else runs after it there, and has to end in just that error. DIR gets answers.tar.gz (NAME.bin for every program
that ran the same twice: its result buffers one after the other) and results.json (device, and what went wrong), workers.log.
With --answers, answers that differ from those kept there are failures too. Needs python3 and libcuda.
Exit status: 0 all ran as they should, 1 some did not, 3 no GPU.
"""
import argparse
import ctypes as ct
import io
import json
import pathlib
import queue
import select
import subprocess
import sys
import tarfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "test/ptx")]
import inputs  # noqa: E402  beside this file where gpu_stage put it, else in test/ptx

MAP_TYPES = {name: i for i, name in enumerate("u8 u16 u32 s32 u64 s64 f16 f32 f64 bf16".split())}
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
GUARD = 4096
LIMIT = 30.0  # seconds for one program


class LaunchAttribute(ct.Structure):
    _fields_ = [("id", ct.c_int), ("pad", ct.c_int), ("value", ct.c_uint * 16)]


class LaunchConfig(ct.Structure):
    _fields_ = [(n, ct.c_uint) for n in ("gx", "gy", "gz", "bx", "by", "bz", "shared")] + [
        ("stream", ct.c_void_p), ("attributes", ct.c_void_p), ("count", ct.c_uint)]


def triple(value):
    values = value if isinstance(value, list) else [value]
    return (values + [1, 1, 1])[:3]


class Device:
    def __init__(self):
        self.cuda = ct.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, context = ct.c_int(), ct.c_void_p()
        self("cuDeviceGet", ct.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ct.byref(context), device)
        self("cuCtxSetCurrent", context)
        name = ct.create_string_buffer(100)
        self("cuDeviceGetName", name, 100, device)
        version = ct.c_int()
        self("cuDriverGetVersion", ct.byref(version))
        self.name = f"{name.value.decode()}, driver API {version.value}"

    def __call__(self, function, *args):
        status = getattr(self.cuda, function)(*args)
        if status:
            text = ct.c_char_p()
            self.cuda.cuGetErrorName(status, ct.byref(text))
            raise RuntimeError(f"{function}: {text.value.decode() if text.value else status}")

    def load(self, text):
        module, log = ct.c_void_p(), ct.create_string_buffer(4000)
        options = (ct.c_int * 2)(5, 6)  # error log and its size
        values = (ct.c_void_p * 2)(ct.cast(log, ct.c_void_p), 4000)
        try:
            self("cuModuleLoadDataEx", ct.byref(module), text.encode() + b"\0", 2, options, values)
        except RuntimeError as failure:
            raise RuntimeError(f"{failure}: {log.value.decode(errors='replace')}") from None
        return module

    def allocate(self, data):
        """Device memory with the data between guards: (address of the data, address of the allocation)."""
        base = ct.c_uint64()
        padded = bytes([0xA5]) * GUARD + data + bytes([0xA5]) * GUARD
        self("cuMemAlloc_v2", ct.byref(base), ct.c_size_t(len(padded)))
        self("cuMemcpyHtoD_v2", base, padded, ct.c_size_t(len(padded)))
        return base.value + GUARD

    def read(self, address, size):
        """The data; RuntimeError if a guard was written."""
        data = ct.create_string_buffer(size + 2 * GUARD)
        self("cuMemcpyDtoH_v2", data, ct.c_uint64(address - GUARD), ct.c_size_t(len(data)))
        raw = data.raw
        if set(raw[:GUARD]) | set(raw[GUARD + size:]) != {0xA5}:
            raise RuntimeError("written outside of a buffer")
        return raw[GUARD:GUARD + size]

    def tensor_map(self, recipe, addresses):
        raw = (ct.c_char * 192)()
        place = ct.addressof(raw) + -ct.addressof(raw) % 64
        rank = len(recipe["dims"])
        array = lambda kind, values: (kind * max(len(values), 1))(*values)
        self("cuTensorMapEncodeTiled", ct.c_void_p(place), MAP_TYPES[recipe["type"]], rank,
             ct.c_void_p(addresses[recipe["of"]] + recipe.get("offset", 0)), array(ct.c_uint64, recipe["dims"]),
             array(ct.c_uint64, recipe["strides"]), array(ct.c_uint32, recipe["box"]),
             array(ct.c_uint32, recipe.get("element_strides", [1] * rank)), 0, SWIZZLES[recipe.get("swizzle", 0)], 0,
             int(recipe.get("nan_fill", False)))
        return raw, place

    def parameter(self, value, addresses):
        """(object to keep, address of the parameter)"""
        if isinstance(value, str):
            kept = ct.c_uint64(addresses[value])
        elif "map" in value:
            return self.tensor_map(value["map"], addresses)
        else:
            (kind, number), = value.items()
            kept = {"u8": ct.c_uint8, "u32": ct.c_uint32, "u64": ct.c_uint64, "f32": ct.c_float}[kind](number)
        return kept, ct.addressof(kept)

    def launch(self, module, launch, addresses):
        function = ct.c_void_p()
        self("cuModuleGetFunction", ct.byref(function), module, launch["entry"].encode())
        if launch["shared"] > 48 * 1024:
            self("cuFuncSetAttribute", function, 8, launch["shared"])
        params = [self.parameter(value, addresses) for value in launch["params"]]
        array = (ct.c_void_p * max(len(params), 1))(*[address for _, address in params])
        cluster = LaunchAttribute(4, 0)  # cluster dimension
        cluster.value[0:3] = triple(launch.get("cluster", 1))
        clustered = triple(launch.get("cluster", 1)) != [1, 1, 1]
        config = LaunchConfig(*triple(launch["grid"]), *triple(launch["block"]), launch["shared"], None,
                              ct.cast(ct.pointer(cluster), ct.c_void_p), int(clustered))
        self("cuLaunchKernelEx", ct.byref(config), function, array, None)
        self("cuCtxSynchronize")


class Buffers:
    """The buffers of a description on the device."""

    def __init__(self, device, description):
        self.device, self.sizes, self.addresses = device, {}, {}
        self.results = [name for name, buffer in description["buffers"].items() if inputs.is_result(buffer)]
        for name, buffer in description["buffers"].items():
            data = inputs.buffer_bytes(buffer)
            self.sizes[name], self.addresses[name] = len(data), device.allocate(data)

    def answer(self):
        return b"".join(self.device.read(self.addresses[name], self.sizes[name]) for name in self.results)

    def free(self):
        for address in self.addresses.values():
            self.device("cuMemFree_v2", ct.c_uint64(address - GUARD))


def run(device, path):
    """The answer of a program."""
    description, text = inputs.read_description(path)
    module = device.load(text)
    answers = []
    for _ in range(2):
        buffers = Buffers(device, description)
        for launch in description["launches"]:
            device.launch(module, launch, buffers.addresses)
        answers.append(buffers.answer())
        buffers.free()
    device("cuModuleUnload", module)
    if answers[0] != answers[1]:
        different = sum(x != y for x, y in zip(*answers))
        raise ArithmeticError(f"two runs differ in {different} of {len(answers[0])} bytes")
    return answers[0]


def fail(device, path, entry):
    """Runs the launch of a program that has to end in an error: what it does instead, or ''. The context is lost."""
    description, text = inputs.read_description(path)
    (launch,) = (launch for launch in description["launches"] if launch["entry"] == entry)
    module = device.load(text)
    buffers = Buffers(device, description)
    try:
        device.launch(module, launch, buffers.addresses)
    except RuntimeError as failure:
        return "" if str(failure) == f"cuCtxSynchronize: {description['error']}" else str(failure)
    return "ends without an error"


def reply_to(device, path, entry, out):
    """(reply, whether the context can be used again)"""
    try:
        if entry:
            why = fail(device, path, entry)
            return {"ok": not why, "why": why}, False
        (out / (path.stem + ".bin")).write_bytes(run(device, path))
        return {"ok": True}, True
    except ArithmeticError as failure:
        return {"ok": False, "why": str(failure)}, True
    except Exception as failure:
        return {"ok": False, "why": f"{type(failure).__name__}: {failure}"}, False


def worker(out):
    """Reads tasks from stdin, one per line: a path, or a path and an entry point of it that fails. Answers each with one line of
    JSON; ends after an error of the driver."""
    device = Device()
    print(json.dumps({"device": device.name}), flush=True)
    for line in sys.stdin:
        path, _, entry = line.rstrip("\n").partition("\t")
        reply, goes_on = reply_to(device, pathlib.Path(path), entry, out)
        print(json.dumps({**reply, "again": goes_on}), flush=True)
        if not goes_on:
            return


class Worker:
    """A process that runs programs, started anew whenever it has ended."""

    def __init__(self, out, log):
        self.out, self.log, self.process, self.device = out, log, None, None

    def reply(self):
        ready, _, _ = select.select([self.process.stdout], [], [], LIMIT)
        line = self.process.stdout.readline() if ready else b""
        return json.loads(line) if line else {"ok": False, "why": "out of time" if not ready else "the process ended"}

    def run(self, path, entry):
        if entry:
            self.stop()
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, __file__, "--worker", "--out", str(self.out)], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=self.log)
            start = self.reply()
            if "device" not in start:
                self.stop()
                return start
            self.device = start["device"]
        self.process.stdin.write(f"{path}\t{entry}\n".encode())
        self.process.stdin.flush()
        answer = self.reply()
        if not answer.get("again"):
            self.stop()
        return answer

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def tasks_of(path):
    """[(path, entry point that fails, or '')]"""
    description, _ = inputs.read_description(path)
    return [(path, launch["entry"]) for launch in description["launches"]] if "error" in description else [(path, "")]


def same(kept, folder, name):
    file = kept / (name + ".bin")
    return file.exists() and file.read_bytes() == (folder / (name + ".bin")).read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--answers", type=pathlib.Path, help="the answers that are expected: test/ptx/answers")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", default="", help="programs whose names contain this")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(args.out)
        return 0
    begin = time.time()
    paths = sorted(path.resolve() for folder in args.folders for path in folder.glob("*.ptx") if args.only in path.stem)
    answers = args.out / "answers"
    answers.mkdir(parents=True, exist_ok=True)
    tasks, failures, devices = queue.Queue(), {}, set()
    log = open(args.out / "workers.log", "wb")
    for task in (task for path in paths for task in tasks_of(path)):
        tasks.put(task)
    count = tasks.qsize()

    def serve():
        one = Worker(answers, log)
        while True:
            try:
                path, entry = tasks.get_nowait()
            except queue.Empty:
                break
            name = f"{path.stem}: {entry}" if entry else path.stem
            answer = one.run(path, entry)
            if one.device is None:
                failures[name] = "no GPU: see workers.log"
                continue
            devices.add(one.device)
            if answer["ok"] and args.answers and not entry and not same(args.answers, answers, path.stem):
                answer = {"ok": False, "why": "not the answer that is kept"}
            if not answer["ok"]:
                failures[name] = answer["why"]
                print(f"{name}: {answer['why']}", flush=True)
        one.stop()

    threads = [threading.Thread(target=serve) for _ in range(args.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (args.out / "results.json").write_text(json.dumps({"devices": sorted(devices), "programs": count, "failures": failures}, indent=1))
    with tarfile.open(args.out / "answers.tar.gz", "w:gz") as tar:
        for path in sorted(answers.glob("*.bin")):
            data = path.read_bytes()
            info = tarfile.TarInfo(path.name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
            path.unlink()
    answers.rmdir()
    print(f"{', '.join(devices) or 'no GPU'}: {count - len(failures)} of {count} ran as they should, {time.time() - begin:.1f} s")
    return 3 if not devices else 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
