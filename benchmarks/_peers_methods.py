"""The methods of ``peers_tuning.py``: each takes training rows and returns a tuned model.

The grid of the peers, for standardised columns: 13 values of C from 1e-2 to 1e4, and 11 of gamma, s 4^-5 to s 4^5 with
s = 1 / (columns x variance), the "scale" of scikit-learn; five folds, stratified where there are classes, shuffled.

Packages are imported when a method is made, so that one that is not installed is missing and no more.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from _peers_sets import CLASSIFICATION, REGRESSION, Array

AUTO, GRID = "PathSVC()", 'PathSVC(search="grid")'
AUTO_R, GRID_R = "PathSVR()", 'PathSVR(search="grid")'
SEARCHED, SEARCHED_R = "GridSearchCV(SVC)", "GridSearchCV(SVR)"
LIQUID, ONE_FIT, PLAIN_FIT, FLOOR = "liquidSVM", "SVC.fit at our choice", "SVC(C=1).fit", "floor"
ONE_FIT_SETS = ("noise-10000", "noise-20000")
Cs = np.geomspace(1e-2, 1e4, 13)
GAMMAS = 4.0 ** np.arange(-5, 6)  # times the scale
TRIALS = 50
BLOCK = 4096  # rows whose kernel is evaluated at a time


@dataclass(frozen=True)
class Work:
    """What a method is given; `given` has the parameters that another one chose on the same rows."""

    X: Array
    y: Array
    seed: int
    threads: int
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def gammas(self) -> Array:
        return self.scale * GAMMAS

    @property
    def scale(self) -> float:
        return 1.0 / (self.X.shape[1] * self.X.var())


@dataclass(frozen=True)
class Tuned:
    """A tuned model: how it predicts, and the parameters that it chose."""

    predict: Callable[[Array], Array]
    chosen: dict[str, Any]


Fit = Callable[[Work], Tuned]


@dataclass(frozen=True)
class Method:
    """A method: what prepares it (imports, then the fit), its task, the most classes, the sets it is meant for."""

    prepare: Callable[[], Fit]
    task: str
    classes: int | None = None
    sets: Sequence[str] = ("",)  # beginnings of their names
    needs: str | None = None  # the method whose choice it is given; where there is none it is not run

    def suits(self, name: str, task: str) -> bool:
        return task == self.task and name.startswith(tuple(self.sets))


# --- ours ------------------------------------------------------------------------------------------------------------


def _ours(estimator: str, **options: Any) -> Fit:
    import svmpath

    make = getattr(svmpath, estimator)

    def fit(work: Work) -> Tuned:
        model = make(n_jobs=work.threads, random_state=work.seed, **options).fit(work.X, work.y)
        names = ("C_", "gamma_", "rank_", "search")
        return Tuned(model.predict, {name: getattr(model, name) for name in names if hasattr(model, name)})

    return fit


# --- scikit-learn ----------------------------------------------------------------------------------------------------


def _folds(work: Work, task: str) -> Any:
    from sklearn.model_selection import KFold, StratifiedKFold

    return (StratifiedKFold if task == CLASSIFICATION else KFold)(5, shuffle=True, random_state=work.seed)


def _grid_search(make: Callable[[], Any], task: str, halving: bool = False, ridge: bool = False) -> Fit:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV

    def fit(work: Work) -> Tuned:
        grid = {"alpha": 0.5 / Cs} if ridge else {"C": Cs}
        options: Any = {"cv": _folds(work, task), "n_jobs": work.threads}
        if task == REGRESSION:
            options["scoring"] = "neg_mean_squared_error"
        if halving:
            options["random_state"] = work.seed
        search = HalvingGridSearchCV if halving else GridSearchCV
        model = search(make(), {**grid, "gamma": work.gammas}, **options).fit(work.X, work.y)
        return Tuned(model.predict, model.best_params_)

    return fit


def _svc() -> Any:
    from sklearn.svm import SVC

    return SVC()


def _svr() -> Any:
    from sklearn.svm import SVR

    return SVR(epsilon=0.1)  # the target has deviation 1


def _ridge() -> Any:
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge(kernel="rbf")


def _intelex() -> Fit:
    from sklearnex.svm import SVC

    return _grid_search(partial(SVC, n_jobs=1), CLASSIFICATION)  # one thread for each of the processes of the search


def _boosting(task: str) -> Fit:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    make = HistGradientBoostingClassifier if task == CLASSIFICATION else HistGradientBoostingRegressor

    def fit(work: Work) -> Tuned:
        model = make(random_state=work.seed).fit(work.X, work.y)
        return Tuned(model.predict, {"iterations": model.n_iter_})

    return fit


def _one_fit(ours: bool) -> Fit:
    """No tuning: one machine, at the C and gamma that our default chose, or at C = 1 and the scale."""
    from sklearn.svm import SVC

    def fit(work: Work) -> Tuned:
        C, gamma = (work.given["C_"], work.given["gamma_"]) if ours else (1.0, work.scale)
        chosen = {"C": C, "gamma": gamma}
        return Tuned(SVC(**chosen).fit(work.X, work.y).predict, chosen)

    return fit


def _floor() -> Fit:
    """No model: the kernel of all rows and of the landmarks of our default, once; of all rows if it has no rank_."""
    from sklearn.metrics.pairwise import rbf_kernel

    def fit(work: Work) -> Tuned:
        rank = int(work.given.get("rank_") or len(work.y))
        landmarks = work.X[:rank]
        for start in range(0, len(work.y), BLOCK):
            rbf_kernel(work.X[start : start + BLOCK], landmarks, gamma=work.scale)
        return Tuned(lambda X: np.full(len(X), work.y[0]), {"rank": rank})

    return fit


# --- others ----------------------------------------------------------------------------------------------------------


def _optuna() -> Fit:
    import optuna
    from sklearn.model_selection import cross_val_score
    from sklearn.svm import SVC

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def fit(work: Work) -> Tuned:
        folds = _folds(work, CLASSIFICATION)

        def accuracy(trial: Any) -> float:
            C = trial.suggest_float("C", Cs[0], Cs[-1], log=True)
            gamma = trial.suggest_float("gamma", work.gammas[0], work.gammas[-1], log=True)
            return cross_val_score(SVC(C=C, gamma=gamma), work.X, work.y, cv=folds, n_jobs=work.threads).mean()

        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=work.seed))
        study.optimize(accuracy, n_trials=TRIALS)
        return Tuned(SVC(**study.best_params).fit(work.X, work.y).predict, study.best_params)

    return fit


def liquid(task: str) -> Fit:
    sysconfig.get_config_vars()["SO"] = ".so"  # by which it looks for its own library, and which Python has dropped
    import liquidSVM

    make = liquidSVM.mcSVM if task == CLASSIFICATION else liquidSVM.lsSVM

    def fit(work: Work) -> Tuned:
        y = work.y.astype(float)
        model = make(work.X, y, threads=work.threads, display=0, random_seed=work.seed + 1)

        def predict(X: Array) -> Array:
            known = np.resize(y, len(X))  # it wants labels to compare with; any that it has seen will do
            return np.asarray(model.test(X, known)[0])[:, 0]  # the columns after the first are of pairs of classes

        return Tuned(predict, {})

    return fit


def _torchkm() -> Fit:
    import torch
    from torchkm import TorchKMSVC

    def fit(work: Work) -> Tuned:
        torch.set_num_threads(work.threads)
        model = TorchKMSVC(kernel="rbf", cv=5, device="cpu", random_state=work.seed).fit(work.X, work.y)
        return Tuned(model.predict, {"C": model.best_C_})

    return fit


def _liblinear() -> Fit:
    from liblinear.liblinearutil import predict, train

    def fit(work: Work) -> Tuned:
        y = work.y.astype(float)
        C, *_ = train(y, work.X, "-s 2 -B 1 -C -v 5 -q")
        model = train(y, work.X, f"-s 2 -B 1 -c {C} -q")
        return Tuned(lambda X: np.asarray(predict([], X, model, "-q")[0]), {"C": C})

    return fit


def _thunder() -> Fit:
    from thundersvm import SVC

    return _grid_search(partial(SVC, n_jobs=1), CLASSIFICATION)


def _c(prepare: Callable[..., Fit], *args: Any, classes: int | None = None, **options: Any) -> Method:
    return Method(partial(prepare, *args, **options), CLASSIFICATION, classes)


def _r(prepare: Callable[..., Fit], *args: Any, **options: Any) -> Method:
    return Method(partial(prepare, *args, **options), REGRESSION)


METHODS: dict[str, Method] = {
    AUTO: _c(_ours, "PathSVC"),
    GRID: _c(_ours, "PathSVC", search="grid"),
    'PathSVC(loss="hinge")': _c(_ours, "PathSVC", loss="hinge"),
    'PathSVC(loss="least_squares")': _c(_ours, "PathSVC", loss="least_squares"),
    'PathSVC(kernel="linear")': _c(_ours, "PathSVC", kernel="linear"),
    SEARCHED: _c(_grid_search, _svc, CLASSIFICATION),
    LIQUID: _c(liquid, CLASSIFICATION),
    "HalvingGridSearchCV(SVC)": _c(_grid_search, _svc, CLASSIFICATION, halving=True),
    "Optuna(SVC)": _c(_optuna),
    "HistGradientBoostingClassifier": _c(_boosting, CLASSIFICATION),
    "LIBLINEAR -C": _c(_liblinear),
    "torchkm": _c(_torchkm, classes=2),
    "scikit-learn-intelex": _c(_intelex),
    "thundersvm": _c(_thunder),
    ONE_FIT: Method(partial(_one_fit, ours=True), CLASSIFICATION, None, ONE_FIT_SETS, needs=AUTO),
    PLAIN_FIT: Method(partial(_one_fit, ours=False), CLASSIFICATION, None, ("scale-",)),
    FLOOR: Method(_floor, CLASSIFICATION, None, ("scale-",), needs=AUTO),
    AUTO_R: _r(_ours, "PathSVR"),
    GRID_R: _r(_ours, "PathSVR", search="grid"),
    'PathSVR(loss="epsilon_insensitive")': _r(_ours, "PathSVR", loss="epsilon_insensitive"),
    SEARCHED_R: _r(_grid_search, _svr, REGRESSION),
    "GridSearchCV(KernelRidge)": _r(_grid_search, _ridge, REGRESSION, ridge=True),
    "liquidSVM lsSVM": _r(liquid, REGRESSION),
    "HistGradientBoostingRegressor": _r(_boosting, REGRESSION),
}
