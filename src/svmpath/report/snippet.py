"""The same model with scikit-learn's own classes, where there is one.

Both minimise C sum_i s_i loss_i + 1/2 ||f||^2, so that C is the same number for the hinge and the epsilon-insensitive
loss. The least squares machine has (K + I / (2 C)) alpha + b = y with sum alpha = 0: kernel ridge regression with
alpha = 1 / (2 C) on the centred kernel and the centred targets, whose mean is added again. The squared hinge C xi^2
is the hinge without a limit on the kernel K + I / (2 C), which SVC takes as a matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import Any

import numpy as np

from svmpath.kernels import ARD
from svmpath.report.fitted import Fitted

_NAMES = ("rbf", "linear", "poly", "sigmoid", "laplacian")  # kernels that scikit-learn has under the same name
_WRITTEN_GAMMAS = 100  # that are written out


def snippet(fitted: Fitted) -> dict[str, Any]:
    """Code that makes the same model, or a sentence that says why there is none."""
    reason = _why_not(fitted)
    if reason is not None:
        return {"code": None, "words": reason}
    code, words = _MAKERS[fitted.path.loss.name](fitted)
    rows = "X and y are those given to fit."
    if fitted.columns is not None:
        rows = "X are the rows after the first steps of the pipeline: model[:-1].transform(X)."
    return {"code": f"{_rows(fitted)}{code}".strip() + "\n", "words": f"{words} {rows}".strip()}


def _why_not(fitted: Fitted) -> str | None:
    """Why scikit-learn has no such model; None if it has."""
    model, path = fitted.model, fitted.path
    name = path.loss.name
    if fitted.is_elastic:
        return (
            "scikit-learn has no exact elastic-net SVM: SGDClassifier(loss='hinge', penalty='elasticnet') minimises a "
            "similar function approximately, and penalises nothing but the coefficients either."
        )
    if name not in _MAKERS:
        return f"scikit-learn has no machine with the loss {name!r}."
    if path.gram.Z is not None:
        return (
            f"The kernel is approximated in rank {path.gram.rank}; scikit-learn's Nystroem with a linear machine is "
            "similar, but draws other landmarks, and its linear machines penalise the offset or use other solvers."
        )
    if not isinstance(model.kernel_, ARD) and (not isinstance(model.kernel, str) or model.kernel not in _NAMES):
        return "The kernel has no name in scikit-learn; SVC and SVR take it as a function k(X, Z) or as a matrix."
    if name in ("least_squares", "squared_hinge") and not _is_unweighted(fitted):
        return (
            "With weights, this loss has no equal in scikit-learn: its kernel would have to be centred by the weights."
        )
    if isinstance(model.kernel_, ARD) and len(np.atleast_1d(model.gamma_)) > _WRITTEN_GAMMAS:
        return "With so many gammas, multiply the columns by their square roots and use an rbf kernel with gamma=1."
    return None


def _is_unweighted(fitted: Fitted) -> bool:
    return bool((fitted.path.problem.s == 1.0).all())


def _rows(fitted: Fitted) -> str:
    """Lines that make the rows as the machine sees them."""
    lines = []
    if fitted.model.scaler_ is not None:
        lines += ["from sklearn.preprocessing import StandardScaler", "", "X = StandardScaler().fit_transform(X)"]
    if isinstance(fitted.model.kernel_, ARD):
        gammas = ", ".join(repr(float(value)) for value in fitted.model.gamma_)
        lines += ["import numpy as np", "", f"X = X * np.sqrt([{gammas}])"]
    return "\n".join(lines) + "\n\n" if lines else ""


def _kernel(fitted: Fitted) -> dict[str, Any]:
    """The kernel as scikit-learn's arguments."""
    if isinstance(fitted.model.kernel_, ARD):
        return {"kernel": "rbf", "gamma": 1.0}
    found: dict[str, Any] = {"kernel": fitted.model.kernel}
    values = fitted.model.kernel_.parameters
    for name in ("gamma", "coef0"):
        if name in values:
            found[name] = float(values[name])
    if fitted.model.kernel == "poly":
        found["degree"] = fitted.model.degree
    return found


def _support_vector(fitted: Fitted) -> tuple[str, str]:
    """SVC or SVR, whose C is the same."""
    model, is_many, is_weighted = fitted.model, len(fitted.targets) > 1, not _is_unweighted(fitted)
    name = "SVC" if fitted.task == "classification" else "SVR"
    arguments = {key: repr(value) for key, value in _kernel(fitted).items()} | {"C": repr(model.C_)}
    if name == "SVR":
        arguments["epsilon"] = repr(float(model.epsilon_))
    lines = [f"from sklearn.svm import {name}"]
    if model.kernel == "laplacian":  # SVC knows it as a function only
        lines = ["from functools import partial", "from sklearn.metrics.pairwise import laplacian_kernel", *lines]
        arguments["kernel"] = f"partial(laplacian_kernel, gamma={arguments.pop('gamma')})"
    machine = f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})"
    weight = words = ""
    if is_many:
        lines.append("from sklearn.multiclass import OneVsRestClassifier")
        machine = f"OneVsRestClassifier({machine})"
    if is_weighted and is_many:
        words = "OneVsRestClassifier takes no weights: fit one SVC per class with sample_weight."
    elif is_weighted:
        words = "weight is the product of sample and class weight of each row."
        weight = ", sample_weight=weight"
        if model._axes.given("C") != "fixed":  # the machine has seen weights in units of their mean
            weight += " / weight[weight > 0].mean()"
    return "\n".join([*sorted(lines), "", f"model = {machine}", f"model.fit(X, y{weight})"]) + "\n", words


def _kernel_matrix(fitted: Fitted) -> str:
    kernel = _kernel(fitted)
    name = kernel.pop("kernel")
    values = "".join(f", {key}={value!r}" for key, value in kernel.items())
    return f'pairwise_kernels(new, X, metric="{name}"{values})'


def _targets(fitted: Fitted) -> str:
    """A line that makes the targets of all machines, one column each."""
    if fitted.task == "regression":
        return "targets = np.asarray(y, dtype=float)"
    if len(fitted.targets) == 1:
        label = np.asarray(fitted.model.classes_)[1:2].tolist()[0]  # without numpy's own types
        return f"targets = np.where(np.asarray(y) == {label!r}, 1.0, -1.0)"
    return "targets = np.where(np.asarray(y)[:, None] == np.unique(y), 1.0, -1.0)"


def _least_squares(fitted: Fitted) -> tuple[str, str]:
    """Kernel ridge regression on the centred kernel."""
    code = f"""
    import numpy as np
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.metrics.pairwise import pairwise_kernels
    from sklearn.preprocessing import KernelCenterer

    def kernel(new):
        return {_kernel_matrix(fitted)}

    {_targets(fitted)}
    offset = targets.mean(axis=0)
    centerer = KernelCenterer().fit(kernel(X))
    ridge = KernelRidge(kernel="precomputed", alpha=1 / (2 * {fitted.model.C_!r}))
    ridge.fit(centerer.transform(kernel(X)), targets - offset)

    def decision_function(new):
        return ridge.predict(centerer.transform(kernel(new))) + offset
    """
    words = (
        "KernelRidge has no offset; on the centred kernel and targets it is the same machine, with alpha = 1 / (2 C)."
    )
    return dedent(code).lstrip(), words


def _squared_hinge(fitted: Fitted) -> tuple[str, str]:
    """SVC without a limit, on the kernel matrix with 1 / (2 C) added to its diagonal."""
    fit = """
    machine = SVC(kernel="precomputed", C=1e10, tol=1e-8)
    machine.fit(kernel(X) + ridge * np.eye(len(X)), y)

    def decision_function(new):
        return machine.decision_function(kernel(new))
    """
    if len(fitted.targets) > 1:
        fit = """
    K = kernel(X) + ridge * np.eye(len(X))
    machines = [SVC(kernel="precomputed", C=1e10, tol=1e-8).fit(K, np.asarray(y) == label) for label in np.unique(y)]

    def decision_function(new):
        return np.column_stack([machine.decision_function(kernel(new)) for machine in machines])
    """
    code = f"""
    import numpy as np
    from sklearn.metrics.pairwise import pairwise_kernels
    from sklearn.svm import SVC

    def kernel(new):
        return {_kernel_matrix(fitted)}

    ridge = 1 / (2 * {fitted.model.C_!r})
    """
    words = (
        "SVC has no squared hinge. On the kernel matrix with 1 / (2 C) added to its diagonal, and with a C that limits "
        "nothing, it is the same machine up to its tolerance."
    )
    return dedent(code).lstrip() + dedent(fit).lstrip(), words


_MAKERS: dict[str, Callable[[Fitted], tuple[str, str]]] = {
    "hinge": _support_vector,
    "epsilon_insensitive": _support_vector,
    "least_squares": _least_squares,
    "squared_hinge": _squared_hinge,
}
