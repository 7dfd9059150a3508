"""What options can be combined: refused in a sentence before any work, where they cannot."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.criteria.gradients import check_full_matrix, smooth_loss
from svmpath.criteria.table import is_bound
from svmpath.gram import Gram
from svmpath.kernels import RBF
from svmpath.losses import LOSSES, Loss
from svmpath.names import unknown_name
from svmpath.validation import check_positive

SEARCHES = ("auto", "grid", "continuous", "gradient")


class OptionsMixin:
    """The checks of options. A class that uses it has the parameters of :class:`svmpath.PathSVC`."""

    _task: str
    _is_ard: bool
    _is_gradient: bool
    _groups: Any
    search: Any
    kernel: Any
    criterion: Any
    criterion_loss: Any
    scoring: Any
    rule: Any
    time_limit: Any

    def _check_options(self) -> None:
        """Refuse what no search can use, before any work."""
        if self.search not in SEARCHES:
            raise ValueError(unknown_name("search", self.search, SEARCHES))
        if self.time_limit is not None:
            check_positive(self.time_limit, "time_limit")
        for name in ("warm_start", "scale"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r}.")
        if self.scoring is not None:
            self._check_scoring()

    def _check_scoring(self) -> None:
        """Refuse a scorer where nothing can be scored by it."""
        if self._is_gradient:
            asked = "gamma='ard'" if self._is_ard else "search='gradient'"
            raise ValueError(
                f"{asked} follows a gradient, which scoring={self.scoring!r} does not have; leave scoring out and give "
                "criterion_loss, or use another search."
            )
        if is_bound(self.criterion):
            raise ValueError(
                f"criterion={self.criterion!r} has no held-out decision values, which scoring={self.scoring!r} needs; "
                "use criterion='span' or 'loo'."
            )

    def _check_bound(self, machines: int) -> None:
        """Refuse what a bound on the number of errors of one machine cannot do."""
        name = getattr(self.criterion, "__name__", self.criterion)
        if not is_bound(name):
            return
        if machines > 1:
            raise ValueError(
                f"criterion={name!r} works for two classes only, but y has {machines}: use criterion='span' or 'loo'."
            )
        if self.search == "continuous":
            raise ValueError(
                f"criterion={name!r} works with search='grid' only; use search='grid', or criterion='span' or 'loo' "
                "with search='continuous'."
            )

    def _check_gradient(self, loss: Loss, gram: Gram) -> None:
        """Refuse what has no gradient, before any work."""
        asked = "gamma='ard'" if self._is_ard else "search='gradient'"
        possible = ("auto", *loss.policy.gradients)
        if len(possible) == 1:
            known = [name for name, kind in LOSSES.items() if kind.policy.gradients]
            raise ValueError(f"{asked} works for the losses {' and '.join(known)}, not for loss={loss.name!r}.")
        if self._groups is not None:
            raise ValueError(
                f"{asked} minimises leave-one-out, which does not hold groups out together; leave groups out, or use "
                "search='auto' with one gamma."
            )
        if self._is_ard and not isinstance(gram.kernel, RBF):
            raise ValueError(f"gamma='ard' works for the rbf kernel only, not for kernel={self.kernel!r}.")
        if self.search == "continuous":
            raise ValueError("gamma='ard' does not work with search='continuous': use search='gradient' instead.")
        if self.criterion not in possible:
            names = " or ".join(repr(name) for name in possible)
            raise ValueError(
                f"{asked} with loss={loss.name!r} needs criterion={names}, which have a gradient; got "
                f"{self.criterion!r}."
            )
        if self.rule != "min":
            raise ValueError(f"{asked} minimises the score, so rule must be 'min'; got {self.rule!r}.")
        check_full_matrix(gram)
        smooth_loss(self.criterion_loss, self._task)
