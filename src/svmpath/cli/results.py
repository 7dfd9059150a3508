"""The table that ``svmpath tune`` prints, and the notes below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from svmpath.cli.console import note
from svmpath.cli.messages import in_options

_COLUMN_WORDS = {"numbers": "numeric", "categories": "categorical", "booleans": "boolean", "dates": "date"}  # columns
RATE = "error rate"
_MOST_COLUMNS = 5  # columns that matter
_SQUARED = "mean squared error"
# What an error is called where it is shown, and the constant prediction that it is compared with.
_ERROR_WORDS = {RATE: (RATE, "most frequent class"), _SQUARED: ("root mean squared error", "mean of the target")}
_MINUS = "minus "  # a score that is maximised
_METHODS = {
    "nested": "nested cross-validation, {fits} fits",
    "bootstrap": "held-out error, corrected by the bootstrap",
}
_HONEST_WORDS = (
    "Held-out error: of the chosen hyper-parameters, on rows that the machine has not seen; often too low, as it chose "
    "them.",
    "Honest error: of tuning and fitting together, so what to expect on new rows.",
)


def print_results(facts: Mapping[str, Any]) -> None:
    """Show the most important facts.

    Parameters
    ----------
    facts : mapping
        As :func:`svmpath.report.summarise` gives them, and ``written``: the files.
    """
    lines = _HONEST_WORDS if facts["honest"] is not None else _HONEST_WORDS[:1]
    print_table(f"svmpath tune: {facts['data']['file']}", _rows(facts).items(), *lines, written=facts["written"])


def print_table(
    title: str, rows: Iterable[Any], *lines: str, heads: Sequence[Any] = (), written: Sequence[Any] = ()
) -> None:
    """Print a table, without rows whose last cell is None, lines below it, and which files were written."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*heads, title=title, show_header=bool(heads), title_justify="left")
    for row in rows:
        if row[-1] is not None:
            table.add_row(*row)
    Console(markup=False, highlight=False).print(table)
    for line in (*lines, *([written_text(written)] if written else [])):
        print(line)


def written_text(paths: Sequence[Any]) -> str:
    """Which files were written, in a sentence.

    Examples
    --------
    >>> from svmpath.cli.results import written_text
    >>> written_text(["model.skops", "summary.json", "report.html"])
    'Wrote model.skops, summary.json and report.html.'
    """
    *others, last = map(str, paths)
    return f"Wrote {', '.join(others)} and {last}." if others else f"Wrote {last}."


def _rows(facts: Mapping[str, Any]) -> dict[str, str | None]:
    """The rows of the table; None if there is nothing to show."""
    from svmpath.criteria.table import is_by_folds

    data, choice, held_out = facts["data"], facts["choice"], facts["held_out"]
    classes = f" ({len(data['classes'])} classes)" if "classes" in data else ""
    how, honest, kind = held_out_by(facts["curve"]["criterion"], held_out["folds"]), facts["honest"], held_out["kind"]
    metrics, is_quantile = held_out.get("metrics", {}), "quantile" in choice
    words, constant = _ERROR_WORDS.get(kind, (kind, "best constant"))
    return {
        "Task": data["task"] + classes,
        "Target": data["target"],
        "Rows": str(data["rows"]) + (f" in {data['chunks']} chunks" if "chunks" in data else ""),
        "Columns": ", ".join(f"{count} {_COLUMN_WORDS[kind]}" for kind, count in data["columns"].items() if count),
        "Machine": _machine(choice),
        "C": _figures(choice["C"]),
        "gamma": _figures(choice["gamma"]),
        "epsilon": _figures(choice.get("epsilon")),
        "quantile": _listed(choice.get("quantile")),
        "Below it": _shares(choice.get("share_below")),
        "Rank": "full" if choice["rank"] is None else f"{choice['rank']} (residual {choice['residual']:.2g})",
        "Threshold": _figures(choice.get("threshold")),
        "Chosen by": how if not is_by_folds(facts["curve"]["criterion"]) else f"{how}, {held_out['folds_are']}",
        "Score": _score(facts["curve"]),
        "Held-out error": _error(held_out, kind, f"{words} ({held_out_by(held_out['criterion'], held_out['folds'])})"),
        "Honest error": None if honest is None else _error(honest, kind, _honest_words(honest)),
        "Baseline": f"{amount(held_out['baseline'], kind)} ({constant})",
        "Recall": recalls(held_out, len(data.get("classes", ()))),
        "ROC-AUC": _areas(metrics),
        "R^2": None if is_quantile else _figures(metrics.get("r2")),
        "Mean abs. error": None if is_quantile else _figures(metrics.get("mean_absolute_error")),
        "Matters most": columns_that_matter(facts.get("importance")),
        "Support vectors": _support(facts),
        "Time": _times(facts),
    }


def _support(facts: Mapping[str, Any]) -> str | None:
    from svmpath.losses import LOSSES

    loss = LOSSES[facts["choice"]["loss"]]
    if facts["support_vectors"] is None:
        return None
    return str(facts["support_vectors"]) if loss.is_sparse else f"all rows ({loss.label})"


def _times(facts: Mapping[str, Any]) -> str:
    """The total, and its parts."""
    parts = ", ".join(f"{name} {spent:.2f}" for name, spent in facts["times"].items())
    return f"{facts['seconds']:.2f} s\n({parts})"


def _areas(metrics: Mapping[str, Any]) -> str | None:
    """The area under the ROC curve, and the average precision."""
    if metrics.get("roc_auc") is None:
        return None
    of = "each class against the rest" if metrics["positive"] is None else str(metrics["positive"])
    return f"{metrics['roc_auc']:.4f}, average precision {metrics['average_precision']:.4f} ({of})"


def columns_that_matter(importance: Mapping[str, Any] | None) -> str | None:
    """The columns whose shuffling clearly raises the held-out loss, the most important first.

    Examples
    --------
    >>> from svmpath.cli.results import columns_that_matter
    >>> columns = [{"name": "age", "interval": [0.1, 0.3]}, {"name": "zip", "interval": [-0.1, 0.1]}]
    >>> columns_that_matter({"columns": columns})
    'age'
    """
    if importance is None:
        return None
    clear = [str(column["name"]) for column in importance["columns"] if column["interval"][0] > 0]
    more = f" and {len(clear) - _MOST_COLUMNS} more" if len(clear) > _MOST_COLUMNS else ""
    return ", ".join(clear[:_MOST_COLUMNS]) + more if clear else "no column clearly does"


def _honest_words(honest: Mapping[str, Any]) -> str:
    """How the honest error was estimated."""
    found = _METHODS[honest["method"]] if honest["has_optimism"] else "held-out error; the bootstrap found no optimism"
    return f"({found})"


def recalls(held_out: Mapping[str, Any], classes: int) -> str | None:
    """What part of each class is found, held out, a line each, and on the average; None for a regression.

    Examples
    --------
    >>> from svmpath.cli.results import recalls
    >>> rows = [{"label": "fraud", "rows": 40, "recall": 0.175}, {"label": "ok", "rows": 2000, "recall": 0.9995}]
    >>> print(recalls({"recall": rows, "balanced_accuracy": 0.58725}, 2))
    17.50 % of 40 rows of fraud
    99.95 % of 2000 rows of ok
    58.73 % balanced accuracy
    """
    if "recall" not in held_out:
        return None
    shown = held_out["recall"]
    parts = ["-" if row["recall"] is None else amount(row["recall"], RATE) for row in shown]
    known = {row["label"]: row for row in held_out.get("metrics", {}).get("per_class", ())}
    lines = [
        f"{part} of {row['rows']} rows of {row['label']}{_precision(known.get(row['label']))}"
        for part, row in zip(parts, shown, strict=True)
    ]
    few = [f"(the lowest of {classes} classes)"] if len(shown) < classes else []
    return "\n".join([*lines, *few, f"{amount(held_out['balanced_accuracy'], RATE)} balanced accuracy"])


def _precision(row: Mapping[str, Any] | None) -> str:
    """Precision and F1 of a class, where they are known."""
    if row is None:
        return ""
    precision = "never predicted" if row["precision"] is None else f"precision {amount(row['precision'], RATE)}"
    return f" ({precision}, F1 {row['f1'] or 0.0:.3f})"


def _score(curve: Mapping[str, Any]) -> str | None:
    """The score that was maximised, if it is not the error."""
    kind = curve["kind"]
    return f"{-min(curve['scores']):.4f} {kind.removeprefix(_MINUS)}, held out" if kind.startswith(_MINUS) else None


def _machine(choice: Mapping[str, Any]) -> str:
    """The loss and the kernel, and which other loss was compared."""
    others = [name for name in choice["losses"] if name != choice["loss"]]
    better = f" (chosen, not {', '.join(others)})" if others else ""
    pairs = ", a machine for each pair of classes" if choice.get("multi_class") == "ovo" else ""
    return f"{choice['loss']}{better}, {choice['kernel']} kernel{pairs}"


def print_notes(facts: Mapping[str, Any], is_cv_given: bool) -> None:
    """Note what a user should know about the result."""
    from svmpath.criteria.table import is_by_folds

    choice, held_out = facts["choice"], facts["held_out"]
    # The estimator warns of another number than its default.
    if is_cv_given and not is_by_folds(facts["curve"]["criterion"]):
        note("--cv has an effect with --criterion kfold only.")
    if facts["curve"]["switched"]:
        more = "; use --criterion loo if you want leave-one-out anyway" if choice["tol"] is None else ""
        note(f"{facts['curve']['switched']}{more}.")
    for name in choice["at_edge"]:
        note(
            f"the chosen {name} = {_figures(choice.get(name))} lies at the edge of the searched range; a better value "
            f"may lie beyond it (use --{name} LOW:HIGH to search another range)."
        )
    if held_out.get("caution") is not None:
        note(in_options(held_out["caution"]))
    elif "caution" not in held_out and held_out["value"] >= held_out["baseline"]:
        note("the model is no better than a constant prediction.")


def held_out_by(criterion: str, folds: int | None) -> str:
    """How samples were held out, in words."""
    from svmpath.criteria.table import CRITERIA, is_by_folds

    return f"{folds}-fold" if is_by_folds(criterion) else CRITERIA[criterion].words


def _error(facts: Mapping[str, Any], kind: str, words: str) -> str:
    """An error in words, and its interval."""
    words = words.format(fits=facts.get("fits"))
    return f"{amount(facts['value'], kind)} {words}\n95 % interval: {interval(facts['interval'], kind)}"


def amount(value: float, kind: str) -> str:
    """An error rate in per cent, the root of a mean squared error, or another error as it is."""
    return f"{100 * value:.2f} %" if kind == RATE else f"{value**0.5 if kind == _SQUARED else value:.6g}"


def interval(ends: Sequence[float], kind: str) -> str:
    """The ends of an interval."""
    low, high = (amount(end, kind) for end in ends)
    return f"{low.removesuffix(' %')} to {high}"


def _listed(value: Any, show: Callable[[float], str] = "{:.6g}".format) -> str | None:
    """A number, or all of several."""
    return None if value is None else ", ".join(map(show, value if isinstance(value, list) else [value]))


def _shares(value: Any) -> str | None:
    """Shares of held-out targets below quantiles."""
    shown = _listed(value, lambda share: f"{100 * share:.1f} %")
    return None if shown is None else f"{shown} of held-out targets"


def _figures(value: Any) -> str | None:
    """A number, or the smallest and largest of several, with six figures."""
    if isinstance(value, list):
        return f"{min(value):.6g} ... {max(value):.6g}"
    return None if value is None else f"{value:.6g}"
