"""Probabilities: log loss, Brier score and calibration error beside scikit-learn's CalibratedClassifierCV.

Protocol: the classification sets of ``_peers_sets.py`` with at most 2000 training rows, standardised, 10 splits, one
BLAS thread. On each split, with the same test rows:

    ours               PathSVC().fit, then predict_proba: Platt's sigmoid on the held-out decision values of the fit
    exact              the same on exact leave-one-out where the fit has predicted it (up to 700 rows), else the same
    isotonic           PathSVC with calibration="isotonic"
    ensemble           CalibratedClassifierCV(SVC(C, gamma), cv=5), sigmoid
    single             the same with ensemble=False

SVC has the gamma of PathSVC, and the best C of 0.1, 1, 10, 100 and 1000 by 3-fold accuracy; the time of this search is
not counted. The expected calibration error has ten bins of equal width, of the class with the largest probability.
Seconds are CPU seconds. "calibrate" is the first predict_proba of one row after fit; "ensemble" and "single" are
CalibratedClassifierCV.fit, with five and six fits of SVC; "fit" is that of PathSVC, which also chooses C and gamma.
With --write the section of the file is renewed after each set.

    python benchmarks/calibration.py --write
"""

from __future__ import annotations

import os
import warnings

# One BLAS thread: the matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import numpy as np
from _common import Array, arguments, chosen, data_folder, machine, progress, publish, table, timed, warn_if_busy
from _peers_sets import CLASSIFICATION, Split, sources
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from svmpath import PathSVC
from svmpath.criteria.calibration import fit_calibration

MOST = 2000  # training rows
MOST_EXACT = 700  # rows up to which exact leave-one-out is compared
BINS = 10
SVC_C = [0.1, 1.0, 10.0, 100.0, 1000.0]
OURS, EXACT, ISOTONIC, ENSEMBLE, SINGLE = "ours", "exact", "isotonic", "ensemble", "single"
WAYS = (OURS, EXACT, ISOTONIC, ENSEMBLE, SINGLE)


@dataclass
class Found:
    """Log loss, Brier score and calibration error of each way, and seconds."""

    scores: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def scores(p: Array, code: Array) -> tuple[float, float, float]:
    """Log loss, Brier score (summed over the classes, halved) and expected calibration error."""
    own = p[np.arange(len(code)), code]
    hits = np.eye(p.shape[1])[code]
    best = p.argmax(axis=1)
    place = np.minimum((p.max(axis=1) * BINS).astype(int), BINS - 1)
    gap = np.bincount(place, p.max(axis=1) - (best == code), minlength=BINS)
    log_loss = -np.log(np.clip(own, np.finfo(float).eps, None)).mean()  # clipped as in scikit-learn
    return float(log_loss), float(0.5 * ((p - hits) ** 2).sum(axis=1).mean()), float(np.abs(gap).sum() / len(code))


def run(split: Split, seed: int) -> Found:
    """All ways on one split."""
    X, y, X_test, y_test = split
    found, model = Found(), PathSVC(random_state=seed)
    found.seconds["fit"] = timed(lambda: model.fit(X, y)).cpu[0]
    code = np.searchsorted(model.classes_, y_test)
    found.seconds[OURS] = timed(lambda: model.predict_proba(X_test[:1])).cpu[0]
    found.scores[OURS] = scores(model.predict_proba(X_test), code)
    found.scores[EXACT] = scores(_by_exact(model, X, y, X_test), code)
    found.scores[ISOTONIC] = scores(model.set_params(calibration="isotonic").predict_proba(X_test), code)
    svc = SVC(gamma=model.gamma_)
    C = GridSearchCV(svc, {"C": SVC_C}, cv=3).fit(X, y).best_params_["C"]
    for name, is_ensemble in ((ENSEMBLE, True), (SINGLE, False)):
        peer = CalibratedClassifierCV(SVC(C=C, gamma=model.gamma_), cv=5, ensemble=is_ensemble)
        found.seconds[name] = timed(lambda peer=peer: peer.fit(X, y)).cpu[0]
        found.scores[name] = scores(peer.predict_proba(X_test), code)
    return found


def _by_exact(model: Any, X: Array, y: Array, X_test: Array) -> Array:
    """The probabilities of PathSVC by exact leave-one-out, where that takes no longer than the fit."""
    if len(X) > MOST_EXACT:
        return model.predict_proba(X_test)
    code = np.searchsorted(model.classes_, y)
    calibration = fit_calibration(model.held_out_decisions(), code, len(model.classes_), np.ones(len(X)))
    return calibration.probabilities(model.decision_function(X_test))


def report(results: dict[str, tuple[int, list[Found]]]) -> str:
    """Tables of the scores and of the times, with a line of means."""
    parts = []
    for place, title in enumerate(("log loss", "Brier score", "expected calibration error")):
        lines = {
            name: [np.mean([each.scores[way][place] for each in found]) for way in WAYS]
            for name, (_, found) in results.items()
        }
        mean = np.mean(list(lines.values()), axis=0)
        rows = [[name, *(f"{value:.4f}" for value in values)] for name, values in [*lines.items(), ("mean", mean)]]
        parts.append(f"{title}\n{table(['set', *WAYS], rows)}")
    rows, ratios = [], []
    for name, (n, found) in results.items():
        fit, ours, *peers = (
            np.median([each.seconds[key] for each in found]) for key in ("fit", OURS, ENSEMBLE, SINGLE)
        )
        ratios.append([peer / ours for peer in peers])
        numbers = [f"{seconds:.4f}" for seconds in (fit, ours, *peers)]
        rows.append([name, str(n), *numbers, *(f"{ratio:.0f}" for ratio in ratios[-1])])
    middle = np.exp(np.mean(np.log(ratios), axis=0))
    rows.append(["geometric mean", "", "", "", "", "", *(f"{ratio:.0f}" for ratio in middle)])
    header = ["set", "n", "fit", "calibrate", ENSEMBLE, SINGLE, f"{ENSEMBLE} / calibrate", f"{SINGLE} / calibrate"]
    parts.append(f"CPU seconds (median)\n{table(header, rows)}")
    return "\n\n".join(parts)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--most", type=int, default=MOST, help=f"largest number of training rows (default {MOST})")
    options = parser.parse_args(argv)
    folder = data_folder()
    if folder is None:
        progress("No data folder: only the sets that are built in or generated. Name one by SVMPATH_DATA.")
    warn_if_busy()
    found = {
        name: source
        for name, source in sources(folder).items()
        if source.task == CLASSIFICATION and source.n <= options.most
    }
    results: dict[str, tuple[int, list[Found]]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(sources(None)["wine"].split(0), 0)  # compiles and imports
        for name in chosen(list(found), options.sets):
            results[name] = found[name].n, [run(found[name].split(k), k) for k in range(options.splits)]
            progress(f"{name}: log loss {np.mean([each.scores[OURS][0] for each in results[name][1]]):.4f}")
            text = f"{machine()}\n{options.splits} splits\n\n{report(results)}"
            if options.write is not None:
                with redirect_stdout(StringIO()):
                    publish("calibration", text, options.write)
    print(text)


if __name__ == "__main__":
    main()
