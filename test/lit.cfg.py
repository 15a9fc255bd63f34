# The lit suite: folders mirror the sources. Run with `cmake --build build --target check-tilec`.
import os
import shutil

import lit.formats

config.name = "tilec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".tile", ".test"]
config.excludes = ["Inputs", "unit", "fuzz", "random", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.build_dir, "bin"), config.llvm_tools_dir, config.environment["PATH"]]
)
for name in ["HOME", "CUDA_HOME", "CUDA_PATH"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Tests say `REQUIRES: ptxas` where they need NVIDIA's assembler, `REQUIRES: gpu` where they need a GPU.
ptxas_places = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"]
if shutil.which("ptxas") or any(
    os.path.exists(os.path.join(p, "bin", "ptxas")) for p in ptxas_places if p
):
    config.available_features.add("ptxas")
if os.path.exists("/dev/nvidiactl"):
    config.available_features.add("gpu")
for tool in ["tilec", "tile-opt", "tile-run"]:
    if os.path.exists(os.path.join(config.build_dir, "bin", tool)):
        config.available_features.add(tool)

config.substitutions.append(("%kernels", os.path.join(config.source_dir, "kernels")))
config.substitutions.append(("%source", config.source_dir))
config.substitutions.append(("%python", config.python))
# A CUDA driver that runs nothing (test/unit/runtime/FakeDriver.cpp).
config.substitutions.append(
    ("%fake-driver", os.path.join(config.build_dir, "lib", "libfake_cuda_driver.so"))
)
