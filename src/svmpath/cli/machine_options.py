"""The options of the help panels "Machine" and "Search", which several commands share.

Names are written out here, so that ``--help`` and the completion of a shell need not load scikit-learn; a test compares
them with the tables of the library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

MACHINE, SEARCH = "Machine", "Search"
FOLDS = 5  # where --cv is not given
_LARGEST_SEED = 2**32 - 1  # of numpy.random.RandomState

COMPLETIONS = {
    "--loss": ("squared_hinge", "hinge", "huber_hinge", "least_squares", "epsilon_insensitive"),
    "--kernel": ("linear", "rbf", "poly", "laplacian", "sigmoid"),
    "--criterion": ("auto", "loo", "alo", "kfold"),
    "--search": ("auto", "grid", "continuous", "gradient"),
    "--landmarks": ("rpcholesky", "greedy", "uniform", "kmeans", "density"),
    "--psd": ("warn", "clip"),
    "--honest": ("auto", "nested", "bootstrap", "none"),
    "--gamma": ("tune", "scale", "auto", "ard"),
    "--C": ("tune",),
    "--rank": ("auto", "exact"),
    "--threshold": ("tune",),
}


def complete(option: str) -> Callable[[str], list[str]]:
    """A function that completes the value of an option in a shell."""

    def names(incomplete: str) -> list[str]:
        return [name for name in COMPLETIONS[option] if name.startswith(incomplete)]

    return names


def _option(name: str, help: str, *, panel: str, **more: Any) -> Any:
    completion = complete(name) if name in COMPLETIONS else None
    return typer.Option(name, help=help, rich_help_panel=panel, autocompletion=completion, **more)


LossOption = Annotated[
    str | None,
    _option(
        "--loss",
        "Loss of the machine: squared_hinge (default for two classes), hinge, huber_hinge, least_squares (default for "
        "regression) or epsilon_insensitive. With several classes, the better of squared_hinge and least_squares is "
        "the default.",
        panel=MACHINE,
        metavar="NAME",
        show_default=False,
    ),
]
EpsilonOption = Annotated[
    str | None,
    _option(
        "--epsilon",
        "Half the width of the tube of --loss epsilon_insensitive: tune (the default) or a number.",
        panel=MACHINE,
        metavar="NUMBER",
        show_default=False,
    ),
]
KernelOption = Annotated[
    str, _option("--kernel", "Kernel: linear, rbf, poly, laplacian or sigmoid.", panel=MACHINE, metavar="NAME")
]
DegreeOption = Annotated[int, _option("--degree", "Degree of the poly kernel.", panel=MACHINE, metavar="N", min=1)]
Coef0Option = Annotated[
    float, _option("--coef0", "Constant of the poly and sigmoid kernels.", panel=MACHINE, metavar="NUMBER")
]
GammaOption = Annotated[
    str,
    _option(
        "--gamma",
        "Parameter of the kernel: tune, scale, auto, a number, LOW:HIGH to search between, or ard for one per column.",
        panel=MACHINE,
        metavar="VALUE",
    ),
]
COption = Annotated[
    str,
    _option(
        "--C", "Weight of the losses: tune, a number, or LOW:HIGH to search between.", panel=MACHINE, metavar="VALUE"
    ),
]
RankOption = Annotated[
    str,
    _option(
        "--rank",
        "Low-rank kernel: exact (none), a number of landmarks, a target for the residual in (0, 1), or auto (exact up "
        "to 2000 rows; with more, --search auto doubles the rank while that helps, other searches and losses with an "
        "elbow use 500 landmarks).",
        panel=MACHINE,
        metavar="VALUE",
    ),
]
LandmarksOption = Annotated[
    str | None,
    _option(
        "--landmarks",
        "Landmarks for --rank: rpcholesky (the default), greedy, uniform (where --rank auto chooses the rank), kmeans "
        "or density.",
        panel=MACHINE,
        metavar="NAME",
        show_default=False,
    ),
]
PsdOption = Annotated[
    str,
    _option(
        "--psd",
        "An indefinite kernel (sigmoid): warn, or clip it to its positive semi-definite part.",
        panel=MACHINE,
        metavar="NAME",
    ),
]
ThresholdOption = Annotated[
    str | None,
    _option(
        "--threshold",
        "Of two classes, the second is predicted where the decision value is larger: a number (0 if not given), or "
        "tune for the cut with the best held-out score.",
        panel=MACHINE,
        metavar="VALUE",
        show_default=False,
    ),
]
CriterionOption = Annotated[
    str,
    _option(
        "--criterion",
        "Held-out error to minimise: exact leave-one-out (loo), its approximation (alo; not for "
        "least_squares) or k-fold (kfold). auto is leave-one-out, which is predicted for the squared hinge; for hinge "
        "with more than 500 rows, epsilon_insensitive with more than 200 and huber_hinge with more than 20 it is "
        "k-fold.",
        panel=SEARCH,
        metavar="NAME",
    ),
]
ScoringOption = Annotated[
    str | None,
    _option(
        "--scoring",
        "Score to maximise instead of minimising the held-out error: the name of a scikit-learn scorer, such as f1, "
        "roc_auc or neg_mean_absolute_error.",
        panel=SEARCH,
        metavar="NAME",
        show_default=False,
    ),
]
CvOption = Annotated[
    int | None,
    _option("--cv", f"Number of folds of k-fold ({FOLDS}).", panel=SEARCH, metavar="N", min=2, show_default=False),
]
SearchOption = Annotated[
    str,
    _option(
        "--search",
        "How gamma and C are searched: auto (many pairs screened, few confirmed), grid (all pairs), continuous (along "
        "paths) or gradient.",
        panel=SEARCH,
        metavar="NAME",
    ),
]
HonestOption = Annotated[
    str,
    _option(
        "--honest",
        "How the error of the whole procedure, choice included, is estimated: nested (the tuning is repeated without "
        "each of ten folds), bootstrap (no fit), none, or auto: nested up to 500 rows (150 for losses other than "
        "least_squares and squared_hinge, and for searches other than auto), bootstrap with more.",
        panel=SEARCH,
        metavar="NAME",
    ),
]
JobsOption = Annotated[
    int | None,
    _option("--n-jobs", "Number of threads; -1 uses all cores.", panel=SEARCH, metavar="N", show_default=False),
]
TimeLimitOption = Annotated[
    float | None,
    _option(
        "--time-limit",
        "Stop searching after so many seconds, and take the best so far; what is under way is finished. Needs --search "
        "auto.",
        panel=SEARCH,
        metavar="SECONDS",
        show_default=False,
    ),
]
MemoryLimitOption = Annotated[
    str | None,
    _option(
        "--memory-limit",
        "What one matrix may take, such as 4GiB or 500MB; 70 % of what is free if not given.",
        panel=SEARCH,
        metavar="SIZE",
        show_default=False,
    ),
]


def _check_seed(value: int) -> int:
    """The seed, if numpy takes it; ``min`` and ``max`` would print both ends in the help."""
    if not 0 <= value <= _LARGEST_SEED:
        raise typer.BadParameter(f"{value} is not between 0 and {_LARGEST_SEED}")
    return value


SeedOption = Annotated[
    int,
    typer.Option(
        "--seed",
        "--random-state",
        callback=_check_seed,
        metavar="N",
        help="Random seed: the same seed gives the same result.",
        rich_help_panel=SEARCH,
    ),
]
