"""``criteria.approximation_gap`` against the machine on the full kernel, and against the definitions of its parts."""

from __future__ import annotations

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.criteria.certificate import _of_sum_zero
from svmpath.gram import Clipped, Nystroem, RandomFourier
from svmpath.gram.exact import exact_product
from svmpath.losses import Expectile, HuberHinge, Pinball
from svmpath.losses.enclosure import best_offsets
from svmpath.progress import watched
from tests.speed import slow_except

LOSSES = {
    "squared_hinge": ("squared_hinge", "classification"),
    "hinge": ("hinge", "classification"),
    "huber_hinge": (HuberHinge(0.3), "classification"),
    "least_squares": ("least_squares", "classification"),
    "least_squares regression": ("least_squares", "regression"),
    "epsilon_insensitive": ("epsilon_insensitive", "regression"),
    "expectile": (Expectile(0.8), "regression"),
    "pinball": (Pinball(0.8), "regression"),
    "nu": ("nu", "classification"),
}
ROUNDING = 1e-9  # of decision values: the machines themselves are not known more closely


def draw(seed, task):
    """Random rows, targets and weights, a third of them zero in every other problem; also rows far away."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 120)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d))
    t = np.sin(2 * X[:, 0]) + (X[:, 1] * X[:, 2] if d > 2 else 0.0)
    noise = 0.4 * rng.normal(size=n)
    y = np.where(t + noise > 0, 1, -1) if task == "classification" else 3 * t + noise
    s = rng.choice([0.0, 0.3, 1.0, 2.0], size=n, p=[0.3, 0.2, 0.3, 0.2]) if seed % 2 else np.ones(n)
    s[[np.argmin(t), np.argmax(t)]] = 1.0  # both classes
    new = np.concatenate([X, rng.normal(size=(200, d)), 5 * rng.normal(size=(50, d))])
    return X, y, s, new, rng


def approximations(seed, rank):
    """One of all kinds of approximation."""
    kinds = (
        rank,
        Nystroem(rank, "kmeans"),
        Nystroem(rank, "uniform", truncate=max(rank // 2, 1)),
        Nystroem(rank, "uniform", single=True),
        RandomFourier(2 * rank),
    )
    return kinds[seed % len(kinds)]


def machines(seed, name):
    """A machine in low rank, that on the full kernel, and rows to compare them on."""
    loss, task = LOSSES[name]
    X, y, s, new, rng = draw(seed, task)
    options = {"loss": loss, "kernel": "rbf", "gamma": 10 ** rng.uniform(-1.5, 0.5), "sample_weight": s}
    value = 10 ** rng.uniform(-1.5, 2.5)
    rank = approximations(seed, int(rng.integers(3, len(X))))
    if name == "nu":
        total = s.sum()
        largest = 2 * min(s[y > 0].sum(), s[y < 0].sum()) / total
        options["over"], value = "nu", float(rng.uniform(0.6, 0.95)) * largest
    low = svmpath.trace(X, y, rank=rank, random_state=seed, **options)(value)
    return low, svmpath.trace(X, y, **options)(value), new


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    "seeds", slow_except([range(3), range(3, 34)], [range(3)]), ids=lambda seeds: f"from {seeds[0]}"
)
def test_bounds_hold(name, seeds):
    finite = 0
    for seed in seeds:
        low, full, new = machines(seed, name)
        certificate, truth = criteria.approximation_gap(low), full(new)
        assert np.abs(truth - low(new)).max() <= certificate.bound + ROUNDING
        assert np.abs(truth - low(new, exact_kernel=True)).max() <= certificate.exact_kernel_bound + ROUNDING
        assert certificate.gap >= 0
        assert certificate.exact_kernel_radius <= certificate.radius * (1 + 1e-9)
        finite += np.isfinite(certificate.exact_kernel_bound)
    assert finite == len(seeds) or name == "nu"  # whose margin on the full kernel may not be known to be positive


@pytest.mark.parametrize("name", LOSSES)
def test_full_rank_has_no_gap(name):
    _, full, _ = machines(2, name)
    certificate = criteria.approximation_gap(full)
    assert certificate.gap < 1e-9
    assert certificate.radius < 1e-4
    assert certificate.bound == pytest.approx(certificate.exact_kernel_bound)
    if name != "epsilon_insensitive":  # with no sample on the tube, as here, many offsets are best
        assert certificate.bound < 1e-3


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "nu"])
def test_gap_is_primal_minus_dual_on_the_full_kernel(name):
    """The sum over samples against the two objectives, computed on the full matrix by CVXPY's optimum and by hand."""
    low, full, _ = machines(5, name)
    certificate, K = criteria.approximation_gap(low), full.problem.gram.block(slice(None), slice(None))
    loss, alpha = low.loss, low.alpha
    # The dual objective at the coefficients: the primal on the full kernel less the gap, never above the optimum.
    best = loss.losses(full, full.fitted) + 0.5 * full.alpha @ K @ full.alpha
    primal, gap = certificate.objective, certificate.gap * certificate.objective
    assert primal - gap <= best * (1 + 1e-10)
    assert best <= primal * (1 + 1e-10)
    # ||w - w*||^2 <= gap, which is what the bounds rest on.
    distance = np.sqrt(max((alpha - full.alpha) @ K @ (alpha - full.alpha), 0.0))
    assert distance <= certificate.exact_kernel_radius + 1e-7
    # With landmarks the gap of the projected machine is half of what the projection leaves.
    if np.isfinite(certificate.radius):
        f = low.fitted - low.b
        assert gap <= (0.5 * (alpha @ K @ alpha - alpha @ f) + low.gap * primal) * (1 + 1e-6) + 1e-9


def test_squared_hinge_by_hand():
    X, y, s, _, _ = draw(8, "classification")
    C, gamma = 2.0, 0.3
    low = svmpath.trace(X, y, gamma=gamma, rank=10, random_state=0, sample_weight=s)(C)
    K = svmpath.kernels.RBF(gamma)(X)
    a, g = low.alpha, K @ low.alpha
    dual = y @ a - 0.5 * a @ g - np.sum(a[s > 0] ** 2 / (4 * C * s[s > 0]))
    primals = [C * s @ np.maximum(1 - y * (g + b), 0) ** 2 + 0.5 * a @ g for b in np.linspace(-3, 3, 60001)]
    projected = C * s @ np.maximum(1 - y * low.fitted, 0) ** 2 + 0.5 * a @ (low.fitted - low.b)
    certificate = criteria.approximation_gap(low)
    assert certificate.gap * certificate.objective == pytest.approx(min(*primals, projected) - dual, rel=1e-5)
    assert certificate.radius == pytest.approx(np.sqrt(2 * (projected - dual)), rel=1e-9)


@pytest.mark.parametrize("name", ["squared_hinge", "hinge", "least_squares regression", "epsilon_insensitive"])
def test_weights_of_zero_are_rows_left_out(name):
    loss, task = LOSSES[name]
    X, y, s, _, _ = draw(1, task)
    landmarks = np.flatnonzero(s > 0)[:12]
    some = np.flatnonzero(s > 0)
    options = {"loss": loss, "kernel": "rbf", "gamma": 0.5}
    whole = svmpath.trace(X, y, rank=Nystroem(landmarks=landmarks), sample_weight=s, **options)(1.0)
    rank = Nystroem(landmarks=np.searchsorted(some, landmarks))
    part = svmpath.trace(X[some], y[some], rank=rank, sample_weight=s[some], **options)(1.0)
    one, other = criteria.approximation_gap(whole), criteria.approximation_gap(part)
    for field in ("gap", "bound", "exact_kernel_bound", "radius", "offset"):
        assert getattr(one, field) == pytest.approx(getattr(other, field), rel=1e-6)


def test_weight_two_is_a_row_twice():
    X, y, _, _, _ = draw(4, "classification")
    s = np.where(np.arange(len(y)) < 10, 2.0, 1.0)
    twice = np.concatenate([np.arange(len(y)), np.arange(10)])
    rank = Nystroem(landmarks=np.arange(20, 28))
    one = svmpath.trace(X, y, gamma=0.5, rank=rank, sample_weight=s)(1.0)
    other = svmpath.trace(X[twice], y[twice], gamma=0.5, rank=rank)(1.0)
    one, other = criteria.approximation_gap(one), criteria.approximation_gap(other)
    assert one.gap == pytest.approx(other.gap, rel=1e-6)
    assert one.bound == pytest.approx(other.bound, rel=1e-6)


def test_precomputed_kernel():
    X, y, s, _, _ = draw(6, "classification")
    rank = Nystroem(landmarks=np.arange(8))
    kernel = svmpath.kernels.RBF(0.5)
    one = svmpath.trace(X, y, kernel=kernel, rank=rank, sample_weight=s)(1.0)
    other = svmpath.trace(kernel(X), y, kernel="precomputed", rank=rank, sample_weight=s)(1.0)
    assert criteria.approximation_gap(one).bound == pytest.approx(criteria.approximation_gap(other).bound, rel=1e-6)


def test_kernels_without_constant_diagonal():
    """Of the linear kernel the bound is for rows that are no longer than the longest training row."""
    X, y, _, _, _ = draw(7, "regression")
    X = X + 0.5
    for kernel, options in (("linear", {}), ("poly", {"degree": 3, "coef0": 1.0, "gamma": 0.3})):
        full = svmpath.trace(X, y, loss="least_squares", kernel=kernel, **options)(0.5)
        low = svmpath.trace(X, y, loss="least_squares", kernel=kernel, rank=1, random_state=0, **options)(0.5)
        certificate = criteria.approximation_gap(low)
        assert 0 < np.abs(full(X) - low(X)).max() <= certificate.bound
        assert np.abs(full(X) - low(X, exact_kernel=True)).max() <= certificate.exact_kernel_bound
        assert certificate.kappa == pytest.approx(full.problem.gram.diag.max())


def test_landmarks_that_nearly_depend_on_each_other():
    """In one dimension 17 landmarks are all that there is: what is left is rounding, 4e-6 at rows far away."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(343, 1))
    y = np.where(np.sin(2 * X[:, 0]) + 0.4 * rng.normal(size=343) > 0, 1, -1)
    options = {"loss": "least_squares", "kernel": "rbf", "gamma": 0.19}
    low = svmpath.trace(X, y, rank=85, random_state=3, **options)(75.0)
    full = svmpath.trace(X, y, **options)(75.0)
    new = np.linspace(-20, 20, 2001)[:, None]
    bound = criteria.approximation_gap(low).bound
    assert np.abs(low(new) - full(new)).max() <= bound < 1e-2


def test_single_class():
    """As k-fold can leave it: every offset from some value on is best, and that value is taken."""
    X, y, _, _, _ = draw(0, "classification")
    for loss in ("squared_hinge", "hinge"):
        path = svmpath.trace(X, y, loss=loss, gamma=1.0, rank=5, random_state=0)
        low = path.without(np.flatnonzero(y < 0))(1.0)
        assert criteria.approximation_gap(low).bound == pytest.approx(0.0, abs=1e-6)


def test_blocks_progress_and_memory_limit():
    low, _, _ = machines(0, "squared_hinge")
    gram, alpha = low.problem.gram, low.alpha
    whole = exact_product(gram, alpha)
    np.testing.assert_allclose(whole, low(gram.X, exact_kernel=True) - low.b, atol=1e-12)
    np.testing.assert_allclose(exact_product(gram, alpha, values_at_once=100), whole, atol=1e-12)
    both = exact_product(gram, np.stack([alpha, np.ones(len(alpha))], axis=1), np.arange(5))
    np.testing.assert_allclose(both[:, 0], whole[:5], atol=1e-12)
    seen = []
    with svmpath.config_context(memory_limit=32 * 4 * gram.n), watched(seen.append):
        limited = criteria.approximation_gap(low)
    assert limited.bound == pytest.approx(criteria.approximation_gap(low).bound, rel=1e-9)
    assert seen[-1].stage == "full kernel"
    assert seen[-1].done == seen[-1].total > 2


def test_what_is_refused():
    X, y, _, _, _ = draw(0, "classification")
    path = svmpath.trace(X, y, gamma=1.0, rank=5)
    with pytest.raises(ValueError, match=r"needs a machine.*call it with a value, path\(C\)"):
        criteria.approximation_gap(path)
    with pytest.raises(ValueError, match="Compressed, which has no coefficient for every row"):
        criteria.approximation_gap(path(1.0).compress(3))
    low = svmpath.trace(X, y, kernel="sigmoid", gamma=1.0, rank=Nystroem(5, "uniform"), random_state=0)(1.0)
    with pytest.raises(ValueError, match=r"positive semi-definite kernel.*Clipped"):
        criteria.approximation_gap(low)
    clipped = svmpath.trace(X, y, kernel="sigmoid", gamma=1.0, rank=Clipped())(1.0)
    assert criteria.approximation_gap(clipped).gap < 1e-9


def test_rows_in_chunks_are_refused():
    da = pytest.importorskip("dask.array")
    X, y, _, _, _ = draw(0, "classification")
    solution = svmpath.trace(da.from_array(X, chunks=(20, -1)), da.from_array(y, chunks=20), gamma=1.0, rank=5)(1.0)
    with pytest.raises(ValueError, match="ChunkedSolution, which has no coefficient for every row"):
        criteria.approximation_gap(solution)


def test_repr_and_parts():
    low, _, _ = machines(0, "hinge")
    certificate = criteria.approximation_gap(low)
    assert f"gap {certificate.gap:.3g}" in repr(certificate)
    assert f"{certificate.bound:.3g}" in repr(certificate)
    with pytest.raises(AttributeError):
        certificate.gap = 1.0
    assert certificate.bound == pytest.approx(certificate.radius * np.sqrt(certificate.kappa) + certificate.offset)


def test_coefficients_are_brought_to_sum_zero():
    alpha = np.array([1.0, -2.0, 0.0, 1.5])
    balanced = _of_sum_zero(alpha)
    assert abs(balanced.sum()) < 1e-15
    assert np.all(np.abs(balanced) <= np.abs(alpha))
    assert _of_sum_zero(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_best_offsets_are_the_ends_of_a_flat_stretch():
    """|b - 1| + |b - 3| is lowest from 1 to 3; max(0, 2 - b) from 2 on."""

    def two(b):
        kinks = np.array([1.0, 3.0])
        return np.where(b > kinks, 1.0, -1.0), np.where(b >= kinks, 1.0, -1.0)

    assert best_offsets(two, 1.0) == pytest.approx((1.0, 3.0), abs=1e-12)
    low, high = best_offsets(lambda b: (np.array([-1.0 * (b <= 2)]), np.array([-1.0 * (b < 2)])), 1.0)
    assert low == pytest.approx(2.0, abs=1e-12)
    assert high == np.inf
