"""Models in use: size on disk, and rows per second, of the same machine in several forms, beside SVC.

    python benchmarks/serving.py --write
    python benchmarks/serving.py --sets squared_hinge

whole     the fitted model as it is            slim     model.for_prediction()
SVC       fitted with the same C and gamma     SVC of   model.to_sklearn()
onnx 64   svmpath.export.to_onnx               onnx 32  the same, numbers in single precision, in onnxruntime

One thread each; the fastest of five calls with 2000 rows; "ratio" is rows per second over those of the fitted SVC.
Files: skops for models, onnx for graphs. "types" are those that skops asks about.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import skops.io
from _common import arguments, chosen, machine, publish, table
from sklearn.svm import SVC

from svmpath import PathSVC
from svmpath.datasets import gaussian_mixture
from svmpath.export import to_onnx

SETS: dict[str, tuple[int, dict[str, Any]]] = {
    "squared_hinge": (1500, {"loss": "squared_hinge", "rank": None}),
    "hinge": (1500, {"loss": "hinge", "rank": None}),
    "least_squares": (1500, {"loss": "least_squares", "rank": None}),
    "low rank 200": (1500, {"loss": "squared_hinge", "rank": 200}),
}


def session_of(graph: Any) -> Callable[[Any], Any]:
    """A function that gives labels by onnxruntime, in one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
    return lambda X: session.run(["label"], {"X": X})[0]


def rate(decide: Callable[[Any], Any], X: Any) -> float:
    """Rows per second of processor time."""
    decide(X)
    spent = []
    for _ in range(5):
        start = time.process_time()
        decide(X)
        spent.append(time.process_time() - start)
    return float(len(X) / min(spent))


def measure(name: str) -> list[list[str]]:
    """The lines of one set."""
    n, options = SETS[name]
    X, y = gaussian_mixture(n, np.random.default_rng(0))
    new, _ = gaussian_mixture(2000, np.random.default_rng(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PathSVC(C=[1.0], gamma=1.0, random_state=0, **options).fit(X, y)
    svc = SVC(C=1.0, gamma=1.0).fit(X, y)
    model.predict_proba(new)
    models = {"whole": model, "slim": model.for_prediction(), "SVC of": model.to_sklearn(), "SVC": svc}
    graphs = {"onnx 64": to_onnx(model), "onnx 32": to_onnx(model, dtype=np.float32)}
    lines, own = [], rate(svc.predict, new)
    for form, each in models.items():
        content = skops.io.dumps(each)
        types = len(skops.io.get_untrusted_types(data=content))
        speed = rate(each.predict, new)
        lines.append([name, form, f"{len(content) / 1024:.0f}", str(types), f"{speed:.0f}", f"{speed / own:.2f}"])
    for form, graph in graphs.items():
        speed = rate(session_of(graph), new.astype(np.float32) if form.endswith("32") else new)
        size = len(graph.SerializeToString())
        lines.append([name, form, f"{size / 1024:.0f}", "-", f"{speed:.0f}", f"{speed / own:.2f}"])
    return lines


def main() -> None:
    args = arguments(__doc__, gammas=None).parse_args()
    lines = [line for name in chosen(list(SETS), args.sets) for line in measure(name)]
    heads = ["machine", "form", "size (KiB)", "types", "rows/s", "ratio"]
    publish("serving", f"{machine()}\n\n{table(heads, lines)}", args.write)


if __name__ == "__main__":
    main()
