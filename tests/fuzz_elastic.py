"""Random paths of the elastic-net hinge machine; each is measured at all its breakpoints and between them.

The kinds are those that break path followers: integer and binary columns, duplicate and negated columns, constant ones,
low rank, duplicate and contradictory rows, unit weights and integer ones, few of one class, more features than samples;
and what files hold: few-valued columns standardised in double precision, in single precision and to seven decimals,
near-duplicates at any distance, repeated rows, counts and prices, columns of any scale, categories, dates.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

import svmpath
from svmpath import ElasticNetSVC, criteria

GENERATED = (
    "normal", "balanced", "ternary", "binary", "duplicate columns", "negated columns", "duplicate rows",
    "contradictory rows", "constant columns", "low rank", "few distinct rows",
)  # fmt: skip
REAL = (
    "few values", "single precision", "seven decimals", "near rows", "near columns", "repeated rows", "counts",
    "prices", "scales", "categories", "dates",
)  # fmt: skip
KINDS = GENERATED + REAL
GENERAL, TIED = 1e-9, 1e-8  # relative duality gaps allowed


def random_rows(rng, kind):
    n, p = int(rng.integers(4, 40)), int(rng.integers(1, 25))
    if kind in REAL:
        return real_rows(rng, kind, n, p)
    X = rng.normal(size=(n, p))
    if kind == "ternary":
        X = rng.integers(-1, 2, size=(n, p)).astype(float)
    elif kind == "binary":
        X = (rng.random(size=(n, p)) < 0.4).astype(float)
    elif kind == "duplicate columns":
        X = X[:, rng.integers(0, p, size=p)]
    elif kind == "negated columns":
        X = np.hstack([X, -X])
    elif kind in ("duplicate rows", "contradictory rows"):
        X = X[rng.integers(0, n, size=n)]
    elif kind == "constant columns":
        X[:, rng.random(p) < 0.5] = 3.0
    elif kind == "low rank":
        X = rng.integers(-2, 3, size=(n, 2)) @ rng.integers(-2, 3, size=(2, p)).astype(float)
    elif kind == "few distinct rows":
        X = rng.integers(0, 2, size=(n, min(p, 3))).astype(float)
    return X


def real_rows(rng, kind, n, p):
    """Rows as files hold them."""
    integers = rng.integers(0, rng.integers(2, 9, size=p), size=(n, p)).astype(float)
    if kind in ("few values", "single precision", "seven decimals"):
        X = standardised(integers)
        return {"few values": X, "single precision": X.astype(np.float32), "seven decimals": np.round(X, 7)}[
            kind
        ].astype(float)
    if kind in ("near rows", "near columns"):
        X, distance = rng.normal(size=(n, p)), 10.0 ** rng.uniform(-16, -6)
        X = X[rng.integers(0, n, size=n)] if kind == "near rows" else X[:, rng.integers(0, p, size=p)]
        return X + distance * rng.normal(size=(n, p))
    if kind == "repeated rows":
        X = integers if rng.random() < 0.5 else standardised(integers)
        return X[np.concatenate([np.arange(n), rng.integers(0, n, size=n // 3)])]
    if kind == "counts":
        return rng.poisson(rng.exponential(size=p), size=(n, p)).astype(float)
    if kind == "prices":
        return np.round(np.exp(rng.normal(3, 1.5, size=(n, p))) * (rng.random((n, p)) < 0.6), 2)
    if kind == "scales":
        return rng.normal(size=(n, p)) * 10.0 ** rng.integers(-6, 7, size=p)
    if kind == "dates":
        return np.column_stack([rng.integers(18_000, 20_000, size=n), rng.integers(0, 7, size=n), integers]).astype(
            float
        )
    values = rng.integers(0, 4, size=(n, max(p // 4, 1)))
    return np.hstack([values == v for v in range(4)]).astype(float)


def standardised(X):
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def random_labels(rng, X, kind):
    n = len(X)
    y = np.where(rng.random(n) < rng.choice([0.1, 0.3, 0.5]), 1.0, -1.0)
    if rng.random() < 0.5:
        y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    if kind == "balanced" or rng.random() < 0.2:
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
    if kind == "duplicate rows" or (kind == "repeated rows" and rng.random() < 0.5):  # equal rows have equal labels
        _, first = np.unique(X, axis=0, return_inverse=True)
        y = y[first.ravel() % n]
    y[:2] = 1.0, -1.0
    return y


def random_path(seed):
    """Kind and arguments of one random path."""
    rng = np.random.default_rng([seed, 7])
    kind = KINDS[seed % len(KINDS)]
    X = random_rows(rng, kind)
    n, p = X.shape
    y = random_labels(rng, X, kind)
    options = {
        "over": str(rng.choice(["lambda1", "lambda1", "lambda1", "lambda2", "ray", "weight"])),
    }
    way = rng.random()
    if way < 0.2:
        options["sample_weight"] = rng.exponential(size=n) + 0.01
    elif way < 0.4:
        options["sample_weight"] = np.where(np.arange(n) < 2, 1, rng.integers(0, 4, size=n)).astype(float)
    if rng.random() < 0.25:
        factors = rng.choice([0.0, 0.5, 1.0, 1.0, 2.0], size=p) if rng.random() < 0.5 else rng.exponential(size=p)
        options["penalty_factor"] = factors
    if rng.random() < 0.1 or kind in ("prices", "scales", "dates"):
        options["standardize"] = True
    lam2 = float(rng.choice([1.0, 1e-3, 0.0, 10.0 ** rng.uniform(-2, 2)]))
    if options["over"] == "lambda1":
        options["lambda2"] = lam2
        if rng.random() < 0.2:
            top = 1 + np.abs(standardised(X) if "standardize" in options else X).sum()
            # Near-copies with other labels and no penalty at all have a machine of any size.
            is_posed = lam2 > 0.0 or not kind.startswith("near")
            options["span"] = (top, float(rng.choice([0.0 if is_posed else 1e-4 * top, 1e-3 * top])))
    elif options["over"] == "ray":
        options["l1_ratio"] = float(rng.choice([0.0, 0.1, 0.5, 0.9, 1.0]))
    else:
        options["lambda1"] = float(rng.choice([0.0, 1e-2, 10.0 ** rng.uniform(-1, 1)]))
        if options["over"] == "weight":
            lam2 = lam2 if options["lambda1"] else max(lam2, 1e-3)
            options |= {"lambda2": lam2, "sample": rng.permutation(n)[: rng.integers(1, 3)]}
    if rng.random() < 0.1 and kind != "dates":
        X = sparse.csr_matrix(X)
    return kind, X, y, options


def run(seed):
    """One path; raises AssertionError where it is not optimal."""
    kind, X, y, options = random_path(seed)
    s = options.get("sample_weight")
    rows = options.get("sample")
    if rows is not None and s is not None and not np.delete(s, rows).any():
        return
    path = svmpath.trace_elastic(X, y, **options)
    nodes = path.breakpoints
    nodes = np.concatenate([nodes, 0.5 * (nodes[1:] + nodes[:-1])])
    solutions = [path(value) for value in nodes]
    total = path.problem.s.sum()
    gaps = np.array([solution.gap - lost(solution) for solution in solutions])
    worst = int(np.argmax(gaps))
    allowed = GENERAL if kind in ("normal", "balanced") else TIED
    what = f"{kind}, {options}: gap {gaps[worst]:.2e} at {path.over} = {nodes[worst]:.6g}, n, p = {X.shape}"
    assert gaps[worst] <= allowed, what
    sums = max(abs(solution.alpha.sum()) for solution in solutions)
    assert sums <= 1e-9 * total, f"{what}: sum of alpha {sums:.2e}"
    run_criteria(seed, path, what)
    run_estimator(seed, X, y, what)


def run_criteria(seed, path, what):
    """Leave-one-out and k-fold: what is held out is predicted by machines that are optimal without it."""
    if path.over == "weight" or seed % 2:
        return
    rng = np.random.default_rng([seed, 8])
    (first, last), n = path.span, path.problem.n
    value = last + (first - last) * rng.uniform(0.1, 0.9)
    counts = path.problem.s > 0
    sides = [np.count_nonzero(counts & (path.problem.y == side)) for side in (-1, 1)]
    if min(sides) < 3:
        return
    held = criteria.loo(path, [value]).decisions[0]
    for i in rng.permutation(np.flatnonzero(counts))[:2]:
        compare(path, np.array([i]), value, held[[i]], f"{what}: leave-one-out of {i}")
    order = rng.permutation(n)
    folds = [(np.setdiff1d(order, part), part) for part in np.array_split(order, 3)]
    if all(len(np.unique(path.problem.y[train[counts[train]]])) == 2 for train, _ in folds):
        held = criteria.kfold(path, [value], cv=folds).held[0]
        compare(path, folds[0][1], value, held[: len(folds[0][1])], f"{what}: k-fold")


def compare(path, rows, value, held, what):
    """The held-out values are those of a machine without the rows, found alone; by costs, as it may not be unique."""
    alone = path.without(rows).family.solve_alone(value)
    if alone is None or alone.parameters["lambda2"] <= 0.0 or (np.abs(alone.alpha) > 0).sum() < 2:
        return
    free = (np.abs(alone.alpha) > 1e-6 * alone.problem.s) & (np.abs(alone.alpha) < (1 - 1e-6) * alone.problem.s)
    if not free.any() or alone.gap > 1e-10:
        return  # the offset is not unique
    # A gap bounds the distance of coefficients: lambda2/2 |d|^2 is at most what the cost has too much.
    lam2, problem = alone.parameters["lambda2"], alone.problem
    cost = problem.s.sum() * (1.0 + np.abs(alone.fitted).max())
    Z = problem.design.Z
    length = np.sqrt(np.max(np.asarray((abs(Z) ** 2 if not sparse.issparse(Z) else Z.multiply(Z)).sum(axis=1))))
    slip = 1e-7 * (1.0 + np.abs(alone.fitted).max()) + 4 * length * np.sqrt(2 * (abs(alone.gap) + 1e-13) * cost / lam2)
    assert np.abs(alone.fitted[rows] - held).max() <= slip, f"{what}: {np.abs(alone.fitted[rows] - held).max():.2e}"


def run_estimator(seed, X, y, what):
    """The estimator ends, and its machine is optimal."""
    if seed % 5:
        return
    if min(np.count_nonzero(y > 0), np.count_nonzero(y < 0)) < 2:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = ElasticNetSVC(cv=3, lambda2=[0.0, 0.1, 10.0], max_features=2 if seed % 3 == 0 else None).fit(X, y)
    solution = model.choice_.solution
    gap = solution.gap - lost(solution)
    assert gap <= TIED, f"{what}: gap {gap:.2e} of the estimator"


def lost(solution):
    """What rounding in large decision values can add to the gap, relative to a cost that is next to nothing."""
    problem = solution.problem
    cost = problem.s @ np.maximum(1 - problem.y * solution.fitted, 0)
    return solution.rounding * problem.s.sum() / max(cost, 1e-6 * problem.s.sum())
