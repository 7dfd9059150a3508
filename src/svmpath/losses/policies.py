"""The defaults that a loss declares: spans of paths, values to score, criteria, limits on the number of samples."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """The defaults of one loss.

    Attributes
    ----------
    span : (float, float)
        The default span of C in ``trace``.
    tuned : (float, float)
        The span of C for ``C="tune"`` of the estimators.
    per_decade : int
        Values of C that are scored per factor of ten.
    loo_rows : float
        Largest number of samples for which ``criterion="auto"`` is exact leave-one-out.
    otherwise : str
        The criterion of "auto" with more samples.
    cost_grows_with_span : bool
        Whether a path goes from event to event, so that it costs more the longer its span.
    exact_rows : int
        Largest number of samples for which a choice by an estimate gets its exact leave-one-out error.
    shown : tuple of str
        The criteria that cost little beside the path itself: a report shows them.
    shown_rows : int
        Largest number of samples, times machines, for which it computes them at more values than the search needed.
    is_quick : bool
        Whether a fit takes a fraction of a second: it may be repeated, and the loss is compared with others by default.
    gradients : tuple of str
        The criteria whose score has a gradient.
    chunked : tuple of str
        The criteria of rows in chunks, the default first; none if the loss has no path there.
    """

    span: tuple[float, float] = (1e-3, 1e3)
    tuned: tuple[float, float] = (1e-3, 1e3)
    per_decade: int = 3
    loo_rows: float = 0
    otherwise: str = "kfold"
    cost_grows_with_span: bool = False
    exact_rows: int = 1000
    shown: tuple[str, ...] = ("kfold",)
    shown_rows: int = 250
    is_quick: bool = False
    gradients: tuple[str, ...] = ()
    chunked: tuple[str, ...] = ()
