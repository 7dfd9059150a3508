"""The report: facts, as one HTML file that needs nothing else.

Text of the user (names, labels) goes into the page in two ways: by the template, which escapes it, and as JSON in an
element that is not run, with every character that could end the element written as an escape. The scripts put it on
the page as text. Only the scripts that are part of the page may run, by their hashes, and nothing may be loaded.
"""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

from svmpath.estimators.honest import HonestError
from svmpath.report.columns import columns, feature_paths, relevance
from svmpath.report.curves import curves, frames_along, paths_along, values_along
from svmpath.report.facts import Facts, plain
from svmpath.report.fitted import Fitted
from svmpath.report.importance import importance_facts
from svmpath.report.levels import levels
from svmpath.report.overview import number, overview, percent, stages
from svmpath.report.render import environment, write_files
from svmpath.report.samples import classified, residuals, samples
from svmpath.report.snippet import snippet
from svmpath.report.summary import summarise
from svmpath.report.tried import tried
from svmpath.report.walk import walk

__all__ = ["Report"]

_SCRIPTS = ("base.js", "curve.js", "walk.js", "held_out.js", "table.js", "report.js")
# What the scripts draw; the rest is in the page already.
_DRAWN = (
    "task", "over", "other", "machines", "classes", "chosen", "curves", "tried", "walk", "samples",
    "classified", "residuals", "levels", "feature_paths", "relevance", "importance",
)  # fmt: skip
_MOST_CLASSES = 12  # of which recall and precision are shown
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


class Report:
    """A report on a tuned model: one HTML file with pictures that can be explored, which needs no network.

    Parameters
    ----------
    model : PathSVC, PathSVR or ElasticNetSVC, or a Pipeline that ends with one
        The fitted estimator.
    X : array, DataFrame or CSR matrix of shape (n, d)
        The rows that it was fitted to; with a pipeline, as they were given to the pipeline.
    y : array of shape (n,)
        Their targets.
    title : str, default="Tuned support vector machine"
        The heading.
    target : str, default="y"
        The name of what is predicted.
    honest : {"bootstrap", "parts", "nested"}, HonestError or None, default="bootstrap"
        How the error of choice and fit together is estimated, or the estimate; "nested" fits the model ten times more.
        Where a correction does not work for the search, there is none.
    seconds : float, optional
        How long the fit took, if that is to be shown.
    first_row : int, default=0
        The number of the first row in the table of samples; 1 if rows are known by their line in a file.
    rows : array of shape (n,), optional
        The place of each row in that file, counted from 0, if some were left out.
    notes : sequence of str, optional
        What was done to the data before, in sentences.
    summary : dict, optional
        What :func:`svmpath.report.summarise` returned, if that is known; it holds what `honest` and `seconds` say.

    Attributes
    ----------
    facts : dict
        All that is on the page, in types that JSON knows; ``svmpath.report.facts.REPORT`` describes it.

    See Also
    --------
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.report.summarise : The facts as a dictionary.
    svmpath.displays.SurfaceDisplay : Scores over C and gamma.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from svmpath import PathSVC, Report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PathSVC(random_state=0).fit(X, y)
    >>> report = Report(model, X, y)
    >>> [cell["name"] for cell in report.facts["overview"]["chosen"]]
    ['Loss', 'Kernel', 'C', 'gamma', 'Machines', 'Support vectors']
    >>> with TemporaryDirectory() as folder:
    ...     report.save(Path(folder) / "report.html")
    ...     (Path(folder) / "report.html").stat().st_size > 1_000_000
    True
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        *,
        title: str = "Tuned support vector machine",
        target: str = "y",
        honest: Any = "bootstrap",
        seconds: float | None = None,
        first_row: int = 0,
        rows: Any = None,
        notes: Sequence[str] = (),
        summary: dict[str, Any] | None = None,
    ) -> None:
        start = time.perf_counter()
        fitted = Fitted.of(model, X, y)
        shown = columns(fitted)
        if summary is None:
            if honest in ("bootstrap", "parts") and not fitted.model.can_be_corrected():
                honest = None
            if honest is not None and not isinstance(honest, HonestError):
                honest = fitted.model.nested_error(honest)
            summary = summarise(
                fitted.model,
                y,
                file=title,
                kinds={column["name"]: column["kind"] for column in shown["shown"]},
                target=target,
                task=fitted.task,
                seconds=seconds,
                named=False,
                honest=honest,
            )
            summary["data"]["notes"] = list(notes)
            summary["importance"] = plain(importance_facts(model, fitted.X, fitted.column_names))
            summary["times"] = {} if seconds is None else {"search": seconds}
        other = None if fitted.other is None else getattr(fitted.model, f"{fitted.other}_")
        values = values_along(fitted)
        paths = paths_along(fitted, values)
        scores = curves(fitted, values, paths)
        is_class = fitted.task == "classification"
        self.facts: Facts = plain(
            {
                "title": title,
                "task": fitted.task,
                "over": fitted.path.over,
                "other": fitted.other,
                "machines": fitted.machines,
                "classes": fitted.labels if is_class else None,
                # one gamma per feature is no pair
                "chosen": {"value": fitted.choice.value, "other": other if isinstance(other, float) else None},
                "summary": summary,
                "overview": overview(fitted, summary),
                "curves": scores,
                "tried": tried(fitted),
                "walk": walk(fitted, frames_along(fitted, values), paths, scores),
                "samples": samples(fitted, first_row, rows),
                "classified": classified(fitted) if is_class else None,
                "residuals": None if is_class or fitted.levels is not None else residuals(fitted),
                "levels": levels(fitted),
                "feature_paths": feature_paths(fitted, values, paths),
                "relevance": relevance(fitted),
                "columns": shown,
                "importance": summary.get("importance"),
                "times": summary.get("times", {}),
                "stages": stages(fitted),
                "snippet": snippet(fitted),
            }
        )
        self.facts["times"]["report"] = time.perf_counter() - start

    def html(self) -> str:
        """The page."""
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs

        scripts = [get_plotlyjs(), "".join(_asset(name) for name in _SCRIPTS)]
        templates = environment()
        templates.filters["number"], templates.filters["percent"] = number, percent
        per_class = self.facts["summary"]["held_out"].get("metrics", {}).get("per_class", [])
        lowest = sorted(per_class, key=lambda row: 1.0 if row["recall"] is None else row["recall"])
        return templates.get_template("report.html.j2").render(
            facts=self.facts,
            classes=per_class if len(per_class) <= _MOST_CLASSES else lowest[:_MOST_CLASSES],
            css=Markup(_asset("report.css")),
            scripts=[Markup(script) for script in scripts],
            # the hashes by which the page allows its scripts
            hashes=[f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}" for script in scripts],
            data=Markup(to_script_json({name: self.facts[name] for name in _DRAWN})),
        )

    def save(self, path: Any) -> None:
        """Write the page to a file; if that fails, a file that was there before stays as it was."""
        text = self.html()
        write_files({Path(path): lambda part: part.write_text(text, encoding="utf-8")})


def to_script_json(value: Any) -> str:
    r"""JSON that may stand in a script element of a page: nothing in it can end the element.

    Examples
    --------
    >>> from svmpath.report.page import to_script_json
    >>> print(to_script_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def _asset(name: str) -> str:
    return resources.files("svmpath.report").joinpath("assets", name).read_text(encoding="utf-8")
