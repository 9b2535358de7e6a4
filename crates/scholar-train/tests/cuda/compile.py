"""Compiles the CUDA sources of all kernels with a real NVRTC: `compile.py SOURCES LIBNVRTC INCLUDE [ARCHITECTURE...]`.

SOURCES is the folder that the stand-in wrote them to (STAND_IN_SOURCES). INCLUDE holds cuda_runtime.h. No GPU is needed. The wheels
nvidia-cuda-nvrtc-cu12 and nvidia-cuda-runtime-cu12 have both.
"""

import ctypes
import pathlib
import sys


def text(nvrtc, program, what):
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.value.decode(errors="replace")


def main():
    sources, library, include, *architectures = sys.argv[1:]
    nvrtc = ctypes.CDLL(library)
    failed = False
    for architecture in architectures or ["sm_80", "sm_90a"]:
        found = sorted(pathlib.Path(sources).glob("*.cu"))
        for path in found:
            program = ctypes.c_void_p()
            nvrtc.nvrtcCreateProgram(ctypes.byref(program), path.read_bytes(), None, 0, None, None)
            options = [f"--gpu-architecture={architecture}", f"--include-path={include}"]
            given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            code = nvrtc.nvrtcCompileProgram(program, len(options), given)
            log = text(nvrtc, program, "ProgramLog")
            if code != 0 or log:
                failed = True
                print(f"{path.name} for {architecture}: {code}\n{log}")
            elif ".entry" not in text(nvrtc, program, "PTX"):
                failed = True
                print(f"{path.name} for {architecture}: no entry")
        print(f"{len(found)} kernels compiled for {architecture}")
        failed = failed or not found
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
