"""Run a command as if on another machine: python tests/elsewhere.py python -m pytest tests/paths

Linear algebra has the kernels of another processor, which add in another order; compiled code is for any processor,
without fused multiplications; the terminal is narrow, the locale is C, the clock is that of Nepal, there is no home,
and Ctrl-C is ignored, as it is behind ``&`` in a script. OPENBLAS_CORETYPE and NUMBA_CPU_NAME stay where they are set:
OPENBLAS_CORETYPE=Prescott chooses another processor.
"""

import os
import platform
import signal
import sys

import numpy as np
import threadpoolctl

# Processors with wide vectors are given those of most users; others a plain one, which has no fused multiplications.
_WIDE = {"SkylakeX", "Cooperlake", "SapphireRapids"}
_PLAIN = {"x86_64": "Nehalem", "AMD64": "Nehalem", "aarch64": "ARMV8", "arm64": "ARMV8"}


def another_processor() -> str | None:
    """The name that OpenBLAS has for a processor that this one can stand in for; None if it has none."""
    np.ones((2, 2)) @ np.ones((2, 2))  # loads it
    here = {library.get("architecture") for library in threadpoolctl.threadpool_info()}
    return "Haswell" if here & _WIDE else _PLAIN.get(platform.machine())


def elsewhere() -> dict[str, str]:
    """The variables of the other machine that are not set here."""
    found = {"NUMBA_CPU_NAME": "generic"}
    if name := another_processor():
        found["OPENBLAS_CORETYPE"] = name
    return {name: value for name, value in found.items() if name not in os.environ}


def main(command: list[str]) -> None:
    there = elsewhere()
    # A home that not even root can make, and a zone that needs no file.
    there |= {"COLUMNS": "40", "LC_ALL": "C", "TZ": "NPT-5:45", "HOME": os.path.join(os.devnull, "home")}
    print("elsewhere:", *(f"{name}={value}" for name, value in there.items()), flush=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.execvpe(command[0], command, os.environ | there)


if __name__ == "__main__":
    main(sys.argv[1:])
