#!/usr/bin/env python3
"""A kernel called from PyTorch: one file, nothing to build. Whatever has `__dlpack__` is an argument.

    tilec ../axpy.tile --arch=sm_90a,sm_80 -o axpy.pack
    python3 axpy.py axpy.pack

Without PyTorch or without a GPU (TILE_DEVICE=emu) the tensors are the runtime's own, filled from numpy. TILE_RT names the
runtime's library where the loader does not find it.
"""

import ctypes
import os
import sys

F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL = range(13)
TO_DEVICE, TO_HOST = range(2)
# By code and bits of a DLDataType.
DTYPES = {(2, 64): F64, (2, 32): F32, (2, 16): F16, (4, 16): BF16, (0, 64): I64, (0, 32): I32, (0, 16): I16, (0, 8): I8,
          (1, 64): U64, (1, 32): U32, (1, 16): U16, (1, 8): U8, (6, 8): BOOL}
C_SCALARS = {F64: ctypes.c_double, F32: ctypes.c_float, I64: ctypes.c_int64, I32: ctypes.c_int32, U64: ctypes.c_uint64,
             U32: ctypes.c_uint32, BOOL: ctypes.c_bool}
CUDA_DEVICES = (2, 3, 13)  # of DLDeviceType: memory that a GPU sees


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Arg(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("extents", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32)]


class ArgumentInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32), ("direction", ctypes.c_int32),
                ("optional", ctypes.c_int32)]


runtime = ctypes.CDLL(os.environ.get("TILE_RT", "libtile_rt.so.0"))
runtime.tile_last_error.restype = ctypes.c_char_p
runtime.tile_kernel_argument_count.restype = ctypes.c_size_t
runtime.tile_context_destroy.restype = runtime.tile_pack_destroy.restype = None
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def need(status):
    if status:
        raise RuntimeError(runtime.tile_last_error().decode())


class Context:
    def __init__(self, device=0):
        self.handle = ctypes.c_void_p()
        need(runtime.tile_context_create(device, ctypes.byref(self.handle)))

    def synchronize(self, stream=0):
        need(runtime.tile_synchronize(self.handle, ctypes.c_void_p(stream)))


class Kernel:
    def __init__(self, context, path, symbol):
        self.context, self.pack, self.handle = context, ctypes.c_void_p(), ctypes.c_void_p()
        need(runtime.tile_load_pack_file(context.handle, os.fsencode(path), ctypes.byref(self.pack)))
        need(runtime.tile_kernel_find(self.pack, symbol.encode(), ctypes.byref(self.handle)))
        self.infos = []
        for index in range(runtime.tile_kernel_argument_count(self.handle)):
            info = ArgumentInfo()
            need(runtime.tile_kernel_argument(self.handle, ctypes.c_size_t(index), ctypes.byref(info)))
            self.infos.append(info)

    def __call__(self, *values, stream=0, allocate=None):
        """Enqueues a call. `allocate` gives workspace of so many bytes, an object with __dlpack__."""
        if len(values) != len(self.infos):
            raise TypeError(f"the kernel takes {len(self.infos)} arguments, not {len(values)}")
        alive = []  # what the arguments point to
        args = (Arg * len(values))(*(argument(info, value, alive) for info, value in zip(self.infos, values)))
        count, bytes_ = ctypes.c_size_t(len(values)), ctypes.c_size_t()
        need(runtime.tile_workspace_size(self.handle, args, count, ctypes.byref(bytes_)))
        workspace = ctypes.c_void_p()
        if bytes_.value:
            workspace.value = tensor_argument(allocate(bytes_.value), alive).data
        need(runtime.tile_launch(self.handle, args, count, ctypes.c_void_p(stream), workspace, bytes_))


def argument(info, value, alive):
    if info.rank >= 0:
        return tensor_argument(value, alive)
    scalar = C_SCALARS[info.dtype](value)
    alive.append(scalar)
    return Arg(ctypes.cast(ctypes.pointer(scalar), ctypes.c_void_p), None, None, -1, info.dtype)


def tensor_argument(value, alive):
    capsule = value.__dlpack__(stream=-1)  # no waiting: the launch is on the stream that wrote the tensor
    tensor = ctypes.cast(capsule_pointer(capsule, b"dltensor"), ctypes.POINTER(DLManagedTensor)).contents.tensor
    if tensor.device_type not in CUDA_DEVICES:
        raise TypeError("the tensor is not on a GPU")
    if tensor.lanes != 1 or (tensor.code, tensor.bits) not in DTYPES:
        raise TypeError(f"no kernel takes a tensor of DLPack type {tensor.code} with {tensor.bits} bits")
    alive.append(capsule)  # not taken over: it gives the tensor back when it goes
    return Arg((tensor.data or 0) + tensor.byte_offset, tensor.shape, tensor.strides, tensor.ndim,
               DTYPES[tensor.code, tensor.bits])


class Array:
    """A numpy array's copy in memory of the runtime, f32: what torch.Tensor is on a GPU."""

    def __init__(self, context, values):
        self.context, self.values, self.memory = context, values, ctypes.c_void_p()
        need(runtime.tile_malloc(context.handle, ctypes.c_size_t(values.nbytes), ctypes.byref(self.memory)))
        self.copy(self.memory, values.ctypes.data_as(ctypes.c_void_p), TO_DEVICE)

    def copy(self, to, source, direction):
        need(runtime.tile_memcpy(self.context.handle, to, source, ctypes.c_size_t(self.values.nbytes), direction, None))

    def numpy(self):
        self.copy(self.values.ctypes.data_as(ctypes.c_void_p), self.memory, TO_HOST)
        return self.values

    def __dlpack__(self, stream=None):
        self.shape = (ctypes.c_int64 * self.values.ndim)(*self.values.shape)
        self.managed = DLManagedTensor(DLTensor(self.memory.value, 2, 0, self.values.ndim, 2, 32, 1, self.shape, None, 0))
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)


def tensors(context, count):
    """x, y, the stream to launch on, and what makes numpy of a tensor."""
    try:
        import torch
    except ImportError:
        torch = None
    if torch and torch.cuda.is_available() and os.environ.get("TILE_DEVICE", "cuda") == "cuda":
        x = torch.arange(count, dtype=torch.float32, device="cuda")
        return x, torch.ones_like(x), torch.cuda.current_stream().cuda_stream, lambda tensor: tensor.cpu().numpy()
    import numpy
    x = Array(context, numpy.arange(count, dtype=numpy.float32))
    return x, Array(context, numpy.ones(count, dtype=numpy.float32)), 0, Array.numpy


def main():
    count = 5000
    context = Context()
    axpy = Kernel(context, sys.argv[1] if len(sys.argv) > 1 else "axpy.pack", "axpy")
    x, y, stream, to_numpy = tensors(context, count)
    axpy(x, y, 2.0, stream=stream)
    context.synchronize(stream)
    result = to_numpy(y)
    wrong = sum(result[i] != 2 * i + 1 for i in range(count))
    print(f"axpy of {count} elements of {type(y).__module__}: {wrong} wrong")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
