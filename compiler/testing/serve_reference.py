"""Serves `tilec test`: answers each line of JSON on standard input, a call of a reference, with one on standard output."""
import importlib.util, json, os, sys, traceback
sys.dont_write_bytecode = True
import numpy as np

replies = os.fdopen(os.dup(1), "w")
sys.stdout = sys.stderr
modules = {}

def function(place):
    path, name = place.rsplit(":", 1)
    if path not in modules:
        spec = importlib.util.spec_from_file_location("reference", path)
        modules[path] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[path])
    if not hasattr(modules[path], name):
        raise NameError("there is no `%s` in %s" % (name, path))
    return getattr(modules[path], name)

def serve(request):
    call = function(request["function"])
    if "folder" in request:
        drawn = call(np.random.default_rng(request["seed"]), **request["values"])
        for name, array in drawn.items():
            np.save(os.path.join(request["folder"], name + ".npy"), array)
        return {"names": sorted(drawn)}
    arrays = {name: path and np.load(path) for name, path in request["inputs"].items()}
    results = call(**arrays, **request["values"])
    for name, path in request["outputs"].items():
        if name not in results:
            raise ValueError("it gives no `%s`" % name)
        array = np.asarray(results[name])
        np.save(path, array.astype(np.int64 if array.dtype.kind in "iub" else np.float64))
    return {}

for line in sys.stdin:
    try:
        reply = serve(json.loads(line))
    except BaseException as problem:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        place = "" if where.filename == "<string>" else " (%s:%d)" % (where.filename, where.lineno)
        reply = {"error": "%s: %s%s" % (type(problem).__name__, problem, place)}
    replies.write(json.dumps(reply) + "\n")
    replies.flush()
