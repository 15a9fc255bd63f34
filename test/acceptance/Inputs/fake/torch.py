"""As much of torch as the timing asks for: tensors are nothing, and each launch takes as long as the file `torch_ms` says."""
import os
import pathlib

float16, float32, uint8 = "f16", "f32", "u8"


class Tensor:
    def zero_(self):
        return self

    def copy_(self, other):
        return self


def randn(*shape, device, dtype):
    assert device == "cuda" and dtype == float16
    return Tensor()


def empty(size, dtype, device):
    return Tensor()


def empty_like(tensor):
    return Tensor()


def softmax(x, axis):
    return x


class cuda:
    class Event:
        def __init__(self, enable_timing):
            pass

        def record(self):
            pass

        def synchronize(self):
            pass

        def elapsed_time(self, end):
            return float(pathlib.Path(os.environ["FAKE"], "torch_ms").read_text())

    @staticmethod
    def empty_cache():
        pass


class nn:
    class functional:
        pass


import sys  # noqa: E402

sys.modules["torch.nn"], sys.modules["torch.nn.functional"] = nn, nn.functional
