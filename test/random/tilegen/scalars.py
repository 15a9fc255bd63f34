"""The values of scalar code: extents, subscripts, bounds."""
import functools


def _quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


class _Integer(int):
    """An integer that divides as the language's: towards zero."""

    def __floordiv__(self, other):
        return _Integer(_quotient(int(self), int(other)))

    def __mod__(self, other):
        return _Integer(int(self) - int(other) * _quotient(int(self), int(other)))


def scalar_integer(value):
    """One that divides so, of an element of a `vec`."""
    return _Integer(value)


def _integer(value):
    return value if value is NotImplemented else _Integer(value)  # beside an array, numbers of threads


for _name in ("add", "sub", "mul", "radd", "rsub", "rmul", "neg", "and", "or", "xor"):
    _plain = getattr(int, f"__{_name}__")
    setattr(_Integer, f"__{_name}__", lambda *args, _plain=_plain: _integer(_plain(*args)))

_FUNCTIONS = {"ceildiv": lambda a, b: _Integer(-(-int(a) // int(b))), "min": min, "max": max, "true": True, "false": False, "present": bool}


@functools.lru_cache(maxsize=100000)
def _compiled(code):
    return compile(code.replace("&&", " and ").replace("||", " or ").replace("/", "//").strip(), "<scalar>", "eval")


def value_of(code, names):
    """The value of scalar code; `names` maps to integers."""
    if code.isdigit():
        return _Integer(code)
    scope = {k: _Integer(v) if isinstance(v, int) and not isinstance(v, bool) else v for k, v in names.items()}
    return eval(_compiled(code), {"__builtins__": {}, **_FUNCTIONS}, scope)
