"""How many different functions of svmpath a fit calls, in how many files: what a reader has to follow.

python benchmarks/functions_called.py [--samples 500]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import svmpath
from svmpath.datasets import banana

_SOURCE = str(Path(svmpath.__file__).parent)


def functions_called(call: Callable[[], Any]) -> set[tuple[str, str]]:
    """The functions of svmpath, as pairs of file and name, that a call runs; comprehensions count as their function."""
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_SOURCE) and not code.co_name.startswith("<"):
            seen.add((code.co_filename[len(_SOURCE) + 1 :], code.co_qualname))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


def main() -> None:
    """Print the counts of typical fits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    X, y = banana(parser.parse_args().samples, random_state=0)
    models = {
        "PathSVC()": (svmpath.PathSVC(), y),
        "PathSVC(loss='hinge')": (svmpath.PathSVC(loss="hinge"), y),
        "PathSVR()": (svmpath.PathSVR(), X[:, 0] + np.sin(X[:, 1])),
    }
    for name, (model, target) in models.items():
        model.fit(X, target)  # what is imported or compiled at the first call does not count
        seen = functions_called(lambda model=model, target=target: model.fit(X, target))  # type: ignore[misc]
        print(f"{name:24} {len(seen):4} functions in {len({file for file, _ in seen}):3} files")


if __name__ == "__main__":
    main()
