"""The same model with scikit-learn's own classes, where there is one.

Both minimise C sum_i s_i loss_i + 1/2 ||f||^2, so that C is the same number for the hinge and the epsilon-insensitive
loss. The least squares machine has (K + I / (2 C)) alpha + b = y with sum alpha = 0: kernel ridge regression with
alpha = 1 / (2 C) on the centred kernel and the centred targets, whose mean is added again. The squared hinge C xi^2
is the hinge without a limit on the kernel K + I / (2 C), which SVC takes as a matrix.
"""

from __future__ import annotations

import numpy as np

from svmpath.kernels import ARD
from svmpath.report.facts import Facts
from svmpath.report.fitted import Fitted
from svmpath.report.render import environment

_WRITTEN_GAMMAS = 100  # that are written out
_WITHOUT_WEIGHTS = {  # machines that have no equal with weights, and what to know about them
    "KernelRidge": "KernelRidge has no offset; on the centred kernel and targets it is the same machine, with "
    "alpha = 1 / (2 C).",
    "SVC on a ridged kernel": "SVC has no squared hinge. On the kernel matrix with 1 / (2 C) added to its diagonal, "
    "and with a C that limits nothing, it is the same machine up to its tolerance.",
}


def snippet(fitted: Fitted) -> Facts:
    """Code that makes the same model (``templates/snippet.py.j2``), or a sentence that says why there is none."""
    model, machine, is_many = fitted.model, fitted.path.loss.equivalent, len(fitted.targets) > 1
    is_weighted = not (fitted.path.problem.s == 1.0).all()
    reason = _why_not(fitted, machine, is_weighted)
    if reason is not None:
        return {"code": None, "words": reason}
    words, weight = _WITHOUT_WEIGHTS.get(machine, ""), ""
    if is_weighted and is_many:
        words = "OneVsRestClassifier takes no weights: fit one SVC per class with sample_weight."
    elif is_weighted:
        words, weight = "weight is the product of sample and class weight of each row.", ", sample_weight=weight"
        if model._axes.given("C") != "fixed":  # the machine has seen weights in units of their mean
            weight += " / weight[weight > 0].mean()"
    is_ard = isinstance(model.kernel_, ARD)
    known = {"gamma": 1.0} if is_ard else dict(model.kernel_.parameters)
    parameters: Facts = {name: float(known[name]) for name in ("gamma", "coef0") if name in known}
    if hasattr(model.kernel_, "degree"):
        parameters["degree"] = model.kernel_.degree
    code = (
        environment()
        .get_template("snippet.py.j2")
        .render(
            machine=machine,
            kernel=model.kernel_.sklearn_name,
            parameters=parameters,
            C=repr(model.C_),
            epsilon=repr(float(model.epsilon_)) if machine == "SVR" else None,
            positive=repr(model.classes_[1:2].tolist()[0]) if fitted.task == "classification" else None,
            is_many=is_many,
            is_scaled=model.scaler_ is not None,
            gammas=[float(value) for value in model.gamma_] if is_ard else None,
            weight=weight,
        )
    )
    rows = "X and y are those given to fit."
    if fitted.columns is not None:
        rows = "X are the rows after the first steps of the pipeline: model[:-1].transform(X)."
    return {"code": code.strip() + "\n", "words": f"{words} {rows}".strip()}


def _why_not(fitted: Fitted, machine: str, is_weighted: bool) -> str | None:
    """Why scikit-learn has no such model; None if it has."""
    model, path = fitted.model, fitted.path
    if fitted.is_elastic:
        return (
            "scikit-learn has no exact elastic-net SVM: SGDClassifier(loss='hinge', penalty='elasticnet') minimises a "
            "similar function approximately, and penalises nothing but the coefficients either."
        )
    if model._machines.multi_class == "ovo":
        return (
            "SVC also has a machine for each pair of classes, but no squared hinge: on the kernel matrix with "
            f"{0.5 / fitted.choice.value:.6g} added to its diagonal (kernel='precomputed'), and with a C that limits "
            "nothing, its machines are the same up to its tolerance."
        )
    if not machine:
        return f"scikit-learn has no machine with the loss {path.loss.name!r}."
    if path.gram.Z is not None:
        return (
            f"The kernel is approximated in rank {path.gram.rank}; scikit-learn's Nystroem with a linear machine is "
            "similar, but draws other landmarks, and its linear machines penalise the offset or use other solvers."
        )
    if not model.kernel_.sklearn_name:
        return "The kernel has no name in scikit-learn; SVC and SVR take it as a function k(X, Z) or as a matrix."
    if machine in _WITHOUT_WEIGHTS and is_weighted:
        return (
            "With weights, this loss has no equal in scikit-learn: its kernel would have to be centred by the weights."
        )
    if isinstance(model.kernel_, ARD) and len(np.atleast_1d(model.gamma_)) > _WRITTEN_GAMMAS:
        return "With so many gammas, multiply the columns by their square roots and use an rbf kernel with gamma=1."
    return None
