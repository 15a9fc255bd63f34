# The lit suite: folders mirror the sources. Run with `cmake --build build --target check-tilec`.
import os
import platform
import shutil
import subprocess

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
# With these tilec looks for NVIDIA's tools (compiler/emit/Toolchain.cpp).
for name in ["HOME", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

# What tests ask for with REQUIRES: a program or library other than tile-opt, which every build of the suite has (builds
# with sanitizers may have no more); what tilec itself finds of NVIDIA's, `ptxas`, `fatbinary` and `libdevice`; `gpu`.
# tools/dev/check_requires.py holds test/unmet.txt against what is asked for and not there.
for tool in ["tilec", "tile-run"]:
    if os.path.exists(os.path.join(config.build_dir, "bin", tool)):
        config.available_features.add(tool)
if "tilec" in config.available_features:
    found = subprocess.run(
        [os.path.join(config.build_dir, "bin", "tilec"), "--print-tools"],
        env=config.environment, check=True, capture_output=True, text=True
    ).stdout
    for line in found.splitlines():
        name, place = line.split(": ", 1)
        if place != "not found":
            config.available_features.add(name)
if os.path.exists(os.path.join(config.build_dir, "lib", "libtile_rt.so")):
    config.available_features.add("tile_rt")
# Programs that are built elsewhere load libraries of this build only where those have no sanitizer in them.
if not config.sanitize:
    config.available_features.add("uninstrumented")
# Builds of other projects, outside this one, cached where that can be.
if shutil.which("ccache"):
    config.environment["CMAKE_C_COMPILER_LAUNCHER"] = config.environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
for feature, program in {"cmake": "cmake", "gcc": "g++", "clang": "clang++-22", "make": "make", "pkg-config": "pkg-config",
                         "dpkg-deb": "dpkg-deb", "aarch64-linux-gnu-gcc": "aarch64-linux-gnu-gcc",
                         "qemu-aarch64-static": "qemu-aarch64-static"}.items():
    if shutil.which(program):
        config.available_features.add(feature)
config.available_features.add("host-" + platform.machine())
if os.path.exists("/dev/nvidiactl"):
    config.available_features.add("gpu")

# The tile that kernels/gemm/*.tile have by default, in place of those that `auto` takes.
config.substitutions.append(("%one_tile", "-P BM=128 -P BN=256 -P BK=64 -P STAGES=4 -P THREADS=256 -P FILL=0"))
config.substitutions.append(("%kernels", os.path.join(config.source_dir, "kernels")))
config.substitutions.append(("%source", config.source_dir))
config.substitutions.append(("%build", config.build_dir))
config.substitutions.append(("%python", config.python))
# A CUDA driver that runs nothing (test/unit/runtime/FakeDriver.cpp), and cuBLAS and NVML beside it (FakeLibraries.cpp).
# A C program with the runtime: %cc-runtime FILE.c -o PROGRAM.
config.substitutions.append(
    ("%cc-runtime", "gcc -std=c11 -Wall -Wextra -Werror -I {0}/runtime/include -L {1}/lib -Wl,-rpath,{1}/lib"
     .format(config.source_dir, config.build_dir))
)
config.substitutions.append(
    ("%fake-libraries", os.path.join(config.build_dir, "lib", "libfake_cuda_libraries.so"))
)
config.substitutions.append(
    ("%fake-driver", os.path.join(config.build_dir, "lib", "libfake_cuda_driver.so"))
)
