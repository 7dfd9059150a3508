"""What a loss can do is declared on its class: no other file looks it up by its name or its class."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.displays import ElbowDisplay
from svmpath.losses import LOSSES, PiecewiseQuadratic, labels_of, quick_losses
from svmpath.paths import TRACKERS
from svmpath.solvers.pieces import Pieces

SRC = Path(svmpath.__file__).parent
CLASSES = {kind.__name__ for kind in LOSSES.values()}
# Names of options as the command line writes them out, names of examples, and per-sample scores with the same names.
WRITTEN_OUT = {
    "cli/options.py": set(LOSSES),
    "cli/tune.py": {"epsilon_insensitive"},
    "cli/compile.py": {"hinge"},
    "criteria/curve.py": {"squared_hinge"},
    "report/curves.py": {"squared_hinge"},
    "paths/surface.py": {"hinge"},  # the default
    "search/screen.py": {"least_squares"},  # by which every screen scores
}


def names_in(path: Path) -> set[str]:
    """Names of losses in a file that are whole strings, and classes of losses that something is compared with."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in LOSSES and id(node) not in docs and node.value != "nu":
            found.add(node.value)
        parts: list[ast.AST] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "type"):
            parts = list(node.args)
        elif isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            parts = [key for key in node.keys if key is not None]
        for part in parts:
            found |= {each.id for each in ast.walk(part) if isinstance(each, ast.Name) and each.id in CLASSES}
    return found


FILES = [path for path in sorted(SRC.rglob("*.py")) if path.parent.name != "losses"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_no_file_looks_up_a_loss(path):
    assert names_in(path) <= WRITTEN_OUT.get(path.relative_to(SRC).as_posix(), set())


def test_declarations_are_complete():
    for name, kind in LOSSES.items():
        assert labels_of(name)[0]
        assert set(kind.followed_by.values()) <= set(TRACKERS)
        assert bool(kind.policy.chunked) == ("chunks" in kind.followed_by)
    assert labels_of("another") == ("another", "")


def test_quick_losses_begin_with_the_default():
    assert quick_losses("classification") == ["squared_hinge", "least_squares"]
    assert quick_losses("regression") == ["least_squares"]


@dataclass(frozen=True)
class RoundedAbsolute(PiecewiseQuadratic):
    """|e| with its kink rounded off, for regression: all that a new loss needs to say."""

    width: float = 0.5

    name = "rounded_absolute"
    tasks = ("regression",)
    label = "rounded absolute"
    followed_by: ClassVar = {"machine": "newton"}
    kink = "slope"
    names = ("below", "slope", "above")

    @property
    def fixed_parameters(self):
        return {"width": self.width}

    @property
    def pieces(self):
        return Pieces((-self.width, self.width), (0.0, 1.0 / self.width, 0.0), of_margin=False)


def test_a_new_loss_is_one_class_and_one_row(monkeypatch):
    """It has paths, proofs, leave-one-out exact and predicted, folds, an estimator and a report of its own."""
    monkeypatch.setitem(LOSSES, "rounded_absolute", RoundedAbsolute)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + 0.5 * rng.standard_t(2, size=40)
    path = svmpath.trace(X, y, loss="rounded_absolute", gamma=0.5, span=(1e-2, 1e2))
    path.check(1e-8)
    e = y - path(1.0).fitted
    np.testing.assert_allclose(path(1.0).alpha, np.clip(e / 0.5, -1, 1), atol=1e-9)
    assert path(1.0).gap < 1e-10
    assert {event.target for event in path.events()} <= {"below", "slope", "above"}
    exact, predicted = criteria.loo(path, [1.0]), criteria.alo(path, [1.0])
    assert np.median(np.abs(exact.held - predicted.held)) < 1e-2
    for i in (0, 7):
        rest = np.delete(np.arange(40), i)
        refit = svmpath.trace(X[rest], y[rest], loss="rounded_absolute", gamma=0.5, span=(1e-2, 1e2))(1.0)
        np.testing.assert_allclose(exact.decisions[0, i], refit(X[[i]])[0], atol=1e-7)
    assert criteria.kfold(path, [1.0], cv=4).scores[0] > 0
    model = svmpath.PathSVR(loss="rounded_absolute", gamma=0.5, C=[0.1, 1.0]).fit(X, y)
    assert (model.loss_, model.width_) == ("rounded_absolute", 0.5)
    assert len(ElbowDisplay.from_path(path, [0.1, 1.0]).elbow) == 2
    assert not any("rounded_absolute" in file.read_text(encoding="utf-8") for file in SRC.rglob("*.py"))
