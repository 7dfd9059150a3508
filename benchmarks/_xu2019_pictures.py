"""Pictures of Xu's figures: one per figure, and all error rates on one page. They need matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

MARKS = {"exact": ("k-", "leave-one-out, exact"), "ALO": ("C0o", "ALO"), "note": ("C1x", "the note's formula")}


def _figure(width: float, height: float) -> Any:
    """An empty figure; None where there is no matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    return Figure(figsize=(width, height), layout="constrained")


def _rates(axes: Any, figure: Any, size: float) -> None:
    """The error rates of one figure over lambda."""
    for name, (style, label) in MARKS.items():
        axes.semilogx(figure.lam, figure.rates(name), style, label=label, markersize=size)


def draw(figure: Any, folder: Path) -> bool:
    """Error rates over lambda, and how far the decision values are from exact; False where there is no matplotlib."""
    picture = _figure(10, 4.2)
    if picture is None:
        return False
    left, right = picture.subplots(1, 2)
    _rates(left, figure, 5)
    for name in ("ALO", "note"):
        mean = np.maximum(figure.difference(name).mean(axis=1), 1e-16)
        right.loglog(figure.lam, mean, MARKS[name][0] + "-", label=MARKS[name][1], markersize=5)
    left.set(xlabel="lambda = 1 / C", ylabel="error rate")
    right.set(xlabel="lambda = 1 / C", ylabel="mean |decision value - exact|")
    left.legend()
    right.legend()
    picture.suptitle(f"Figure {figure.number}: {figure.case.title}, n = {len(figure.y)}, {figure.form}")
    folder.mkdir(parents=True, exist_ok=True)
    picture.savefig(folder / f"xu2019_figure{figure.number:02d}.png", dpi=120)
    return True


def draw_overview(kinds: Mapping[str, Sequence[Any]], file: Path) -> bool:
    """Mean error rates of all figures over the draws, a row for each kind of labels."""
    columns = len(next(iter(kinds.values())))
    picture = _figure(2.6 * columns, 2.4 * len(kinds) + 0.8)
    if picture is None:
        return False
    panels = picture.subplots(len(kinds), columns, squeeze=False, sharex=True, sharey=True)
    for row, (kind, figures) in zip(panels, kinds.items(), strict=True):
        for axes, each in zip(row, figures, strict=True):
            _rates(axes, each, 3)
            axes.set_title(f"Figures {each.case.figure}, {each.case.figure + 1}: {each.case.name}\n{kind}", size=9)
    for axes in panels[-1]:
        axes.set_xlabel("lambda = 1 / C")
    for axes in panels[:, 0]:
        axes.set_ylabel("error rate")
    picture.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    file.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(file, dpi=90)
    return True
