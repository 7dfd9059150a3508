"""The tables of ``peers_tuning.py`` from its records, and the plot of times over n.

For splits k = 1 ... m of a set, with errors e_k of one method and f_k of another, the paired difference is the mean of
e_k - f_k, and its standard error the deviation of e_k - f_k over sqrt(m). Ratios of times are geometric means over
sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
from _common import machine
from _peers_methods import AUTO, AUTO_R, GRID, GRID_R, METHODS, SEARCHED, SEARCHED_R
from _peers_sets import CHOSEN, CLASSIFICATION, REGRESSION, REPORTED

Record = dict[str, Any]
RANGES = {"n < 2000": (0, 2000), "2000 <= n < 10 000": (2000, 10_000), "n >= 10 000": (10_000, np.inf)}
DASH = "-"


@dataclass
class Cell:
    """What is known of a method on a set: by split its error, its seconds, and the last that went wrong."""

    errors: dict[int, float] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    timed: dict[int, float] = field(default_factory=dict)  # on an idle machine
    notes: dict[int, str] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        k = record["split"]
        self.notes.pop(k, None)
        if "error" not in record:
            self.notes[k] = record["note"]
            return
        self.errors[k] = record["error"]
        (self.timed if record.get("timing") else self.seconds)[k] = record["seconds"]

    @property
    def time(self) -> float:
        """The median; of the times that were measured as such, if there are any."""
        times = list((self.timed or self.seconds).values())
        return float(np.median(times)) if times else np.nan

    @property
    def note(self) -> str:
        return next(iter(self.notes.values()), "")


@dataclass(frozen=True)
class Known:
    """The records of one task, put in order: facts of each set, and a cell for each pair of a set and a method."""

    facts: dict[str, Record]
    cells: dict[tuple[str, str], Cell]

    @classmethod
    def of(cls, records: Iterable[Record], task: str) -> Known:
        facts: dict[str, Record] = {}
        cells: dict[tuple[str, str], Cell] = {}
        for record in records:
            if record["task"] == task and "split" in record:
                facts.setdefault(record["set"], {}).update(
                    {key: record[key] for key in ("n", "d", "classes", "half") if key in record}
                )
                cells.setdefault((record["set"], record["method"]), Cell()).add(record)
        return cls(dict(sorted(facts.items(), key=lambda item: (item[1].get("n", 0), item[0]))), cells)

    def cell(self, name: str, method: str) -> Cell:
        return self.cells.get((name, method), Cell())

    @property
    def methods(self) -> list[str]:
        return [name for name in METHODS if any(method == name for _, method in self.cells)]


def paired(first: dict[int, float], second: dict[int, float]) -> tuple[float, float, int]:
    """Mean difference over the splits that both have, its standard error, and how many there are."""
    both = sorted(first.keys() & second.keys())
    differences = np.array([first[k] - second[k] for k in both])
    return (*mean_and_error(differences), len(both))


def mean_and_error(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Mean and standard error; nan for what cannot be said of so few."""
    m = len(values)
    mean = float(np.mean(values)) if m else np.nan
    return mean, float(np.std(values, ddof=1) / np.sqrt(m)) if m > 1 else np.nan


# --- tables ----------------------------------------------------------------------------------------------------------


def report(records: Sequence[Record], only: Sequence[str] = ("*",)) -> str:
    """All tables in Markdown."""
    shown = [r for r in records if any(fnmatch(f"{r['set']}/{r['method']}", pattern) for pattern in only)]
    shown = [r for r in shown if not r["set"].startswith("scale-")]
    parts = ["# The time to a tuned model, and its test error", machine().replace("\n", "  \n"), _reading(shown)]
    tasks = (
        ("Classification", CLASSIFICATION, (AUTO, GRID, SEARCHED), 100.0),
        ("Regression", REGRESSION, (AUTO_R, GRID_R, SEARCHED_R), 1.0),
    )
    for title, task, (auto, *others), unit in tasks:
        known = Known.of(shown, task)
        if known.cells:
            parts += [f"## {title}", long_table(known, unit), f"### {auto} beside the others"]
            parts += [
                summary(known, auto, unit),
                f"### Paired differences, {auto} minus",
                differences(known, auto, others, unit),
            ]
    return "\n\n".join([*parts, missing(records)]).strip()


def _reading(records: Sequence[Record]) -> str:
    threads = sorted({record["threads"] for record in records})
    ways = [r["chosen"]["search"] for r in records if r["method"] in (AUTO, AUTO_R) and "search" in r.get("chosen", {})]
    lines = [
        f"Threads of each method: {', '.join(map(str, threads)) or DASH}. Time: median wall seconds of the fit over",
        "the splits, after imports and a fit on a tiny problem; from runs with --timing where there are any (t).",
        "Errors: mean and standard error over the splits; per cent of the test rows, or the mean square over the",
        f'variance of the target. Sets "{CHOSEN}" (generated ones, and those of TUNING in _peers_sets.py) may have',
        f'been looked at when constants of the search were chosen; sets "{REPORTED}" have not.',
        f"The default of search was: {', '.join(sorted(set(ways))) or DASH}.",
    ]
    return "\n".join(lines)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _pair(mean: float, error: float, unit: float, sign: str = "") -> str:
    if np.isnan(mean):
        return DASH
    digits = 2 if unit == 100.0 else 4
    tail = "" if np.isnan(error) else f" ± {unit * error:.{digits}f}"
    return f"{unit * mean:{sign}.{digits}f}{tail}"


def _seconds(cell: Cell) -> str:
    return DASH if np.isnan(cell.time) else f"{cell.time:.3g}{' t' if cell.timed else ''}"


def long_table(known: Known, unit: float) -> str:
    """A row for each set and method."""
    header = ["set", "n", "d", "classes", "half", "method", "splits", "error", "time (s)", "note"]
    rows = []
    for name, facts in known.facts.items():
        for method in known.methods:
            if (name, method) in known.cells:
                cell = known.cell(name, method)
                sizes = [str(facts.get(key, DASH)) for key in ("n", "d", "classes", "half")]
                error = _pair(*mean_and_error(list(cell.errors.values())), unit)
                rows.append([name, *sizes, f"`{method}`", str(len(cell.errors)), error, _seconds(cell), cell.note])
    return markdown(header, rows)


def summary(known: Known, auto: str, unit: float) -> str:
    """For each other method: how much longer it takes, and mean errors over the sets that both have."""
    header = ["method", *(f"time / ours, {name}" for name in RANGES), "sets without a result"]
    header += [f"mean error, {half}: it, ours (sets)" for half in (CHOSEN, REPORTED)]
    rows = []
    for method in known.methods:
        if method != auto:
            ratios = [_ratio(known, method, auto, *limits) for limits in RANGES.values()]
            cells = [known.cell(name, method) for name in known.facts if (name, method) in known.cells]
            failed = sum(not cell.errors for cell in cells)
            errors = [_mean_errors(known, method, auto, half, unit) for half in (CHOSEN, REPORTED)]
            rows.append([f"`{method}`", *ratios, f"{failed} of {len(cells)}", *errors])
    return markdown(header, rows) + "\n\nRatios above 1: ours is faster. In brackets the number of sets."


def _ratio(known: Known, method: str, auto: str, low: float, high: float) -> str:
    """The geometric mean; a time from an idle machine is not set against one that is not."""
    names = [name for name, facts in known.facts.items() if low <= facts.get("n", -1) < high]
    pairs = [(known.cell(name, method), known.cell(name, auto)) for name in names]
    ratios = np.array([its.time / ours.time for its, ours in pairs if bool(its.timed) == bool(ours.timed)])
    ratios = ratios[np.isfinite(ratios)]
    return f"{np.exp(np.mean(np.log(ratios))):.3g} ({len(ratios)})" if len(ratios) else DASH


def _mean_errors(known: Known, method: str, auto: str, half: str, unit: float) -> str:
    """Means over sets of the means over the splits that both have."""
    pairs = []
    for name, facts in known.facts.items():
        first, second = known.cell(name, method).errors, known.cell(name, auto).errors
        both = first.keys() & second.keys()
        if both and facts["half"] == half:
            pairs.append([np.mean([errors[k] for k in both]) for errors in (first, second)])
    if not pairs:
        return DASH
    its, ours = np.mean(pairs, axis=0)
    return f"{_pair(its, np.nan, unit)}, {_pair(ours, np.nan, unit)} ({len(pairs)})"


def differences(known: Known, auto: str, others: Sequence[str], unit: float) -> str:
    """Paired differences of each set; more than two standard errors are marked, and listed below."""
    rows, far = [], {other: {"better": [], "worse": []} for other in others}
    for name, facts in known.facts.items():
        row = [name, facts["half"]]
        for other in others:
            mean, error, count = paired(known.cell(name, auto).errors, known.cell(name, other).errors)
            is_far = abs(mean) > 2.0 * error
            if is_far:
                far[other]["better" if mean < 0.0 else "worse"].append(name)
            row.append(f"{_pair(mean, error, unit, '+')}{' *' if is_far else ''}{f' ({count})' if count else ''}")
        if any(cell != DASH for cell in row[2:]):
            rows.append(row)
    if not rows:
        return "No set has both."
    lines = [
        f"- More than two standard errors {how} than `{other}`: {', '.join(names) or 'none'}."
        for other, found in far.items() for how, names in found.items()
    ]  # fmt: skip
    means = [_mean_difference(known, auto, others, half, unit) for half in (CHOSEN, REPORTED)]
    return "\n".join([markdown(["set", "half", *(f"`{other}`" for other in others)], [*rows, *means]), "", *lines])


def _mean_difference(known: Known, auto: str, others: Sequence[str], half: str, unit: float) -> list[str]:
    """The mean over the sets of a half, and its standard error over sets."""
    row = ["**mean**", half]
    for other in others:
        sets = [name for name, facts in known.facts.items() if facts["half"] == half]
        means = [paired(known.cell(name, auto).errors, known.cell(name, other).errors)[0] for name in sets]
        means = [mean for mean in means if np.isfinite(mean)]
        row.append(f"{_pair(*mean_and_error(means), unit, '+')}{f' ({len(means)} sets)' if means else ''}")
    return row


def missing(records: Sequence[Record]) -> str:
    """The methods whose last word is that they are not installed."""
    last = {record["method"]: record for record in records}
    lines = [f"- `{method}`: {record['missing']}" for method, record in last.items() if "missing" in record]
    return "\n".join(["## Missing", "", *lines]) if lines else ""


# --- time over n -----------------------------------------------------------------------------------------------------


def scale_plot(records: Sequence[Record], file: Path) -> str:
    """Draw seconds over n, both in logarithms; the numbers as a table."""
    known = Known.of((r for r in records if r["set"].startswith("scale-")), CLASSIFICATION)
    rows = [
        [str(facts.get("n", name)), *(_seconds(known.cell(name, method)) for method in known.methods)]
        for name, facts in known.facts.items()
    ]
    _draw(known, file, lambda name: int(name.partition("-")[2]))
    return markdown(["n", *(f"`{method}`" for method in known.methods)], rows)


def _draw(known: Known, file: Path, size: Callable[[str], int]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    for method in known.methods:
        points = [(size(name), known.cell(name, method).time) for name in known.facts]
        points = [point for point in points if np.isfinite(point[1])]
        if points:
            axes.loglog(*zip(*points, strict=True), "--" if method == "floor" else "o-", label=method)
    axes.set(xlabel="training rows n", ylabel="seconds", title="twonorm, 15 % of the labels flipped, 20 columns")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=150)
