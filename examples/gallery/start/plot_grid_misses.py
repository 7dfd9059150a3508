"""
Why a grid misses
=================

A usual grid tries powers of ten. The best value may lie between two of them, and
nothing in the results of the grid tells you so. A path has a score at every
value.
"""

# %%
# A chessboard of unit side
# -------------------------
# Three hundred points on a board of five by five fields. The width of a field
# decides which ``gamma`` is good.

import numpy as np
from matplotlib import pyplot as plt

import svmpath
from svmpath import criteria
from svmpath.displays import BoundaryDisplay, CurveDisplay

plt.style.use("petroff10")  # colours that everyone can tell apart


def chessboard(n, seed):
    """Points on five by five fields, and their colours."""
    X = np.random.default_rng(seed).uniform(size=(n, 2))
    return X, np.where(np.floor(5 * X).sum(axis=1) % 2, 1, -1)


X, y = chessboard(300, seed=2)
X_new, y_new = chessboard(5000, seed=99)

path = svmpath.trace(
    X, y, loss="least_squares", over="gamma", span=(1.0, 1000.0), C=100.0
)
fine = criteria.loo(path, np.geomspace(1.0, 1000.0, 61))
coarse = criteria.loo(path, [1.0, 10.0, 100.0, 1000.0])

# %%
# The valley lies between 10 and 100, and the grid steps over it. If the board
# were measured in other units, the same grid might hit the valley: its result
# depends on luck.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
curves = {"61 values of the path": fine, "powers of ten": coarse}
CurveDisplay.from_curve(curves, ax=ax, errors=False)
ax.set_title("Leave-one-out error over gamma")
plt.show()

# %%
# Does it matter for new points?
# ------------------------------


def error_of(path, gamma):
    """The error rate on new points."""
    return np.mean(np.sign(path(gamma)(X_new)) != y_new)


figure, axes = plt.subplots(
    1, 2, figsize=(8, 4.3), layout="constrained", sharex=True, sharey=True
)
for ax, (name, curve) in zip(
    axes, {"powers of ten": coarse, "path": fine}.items(), strict=True
):
    gamma = svmpath.select(curve).value
    BoundaryDisplay.from_path(path, gamma, ax=ax, s=8)
    ax.set_title(f"{name}: gamma = {gamma:.3g}, {error_of(path, gamma):.1%} wrong")
    ax.get_legend().remove()  # with least squares, every sample is a support vector
plt.show()

# %%
# One draw could be an accident, so here are five.

options = {
    "loss": "least_squares",
    "over": "gamma",
    "span": (1.0, 1000.0),
    "C": 100.0,
}
errors = []
for seed in range(5):
    draw = svmpath.trace(*chessboard(300, seed), **options)
    tried = [
        criteria.loo(draw, values) for values in (coarse.values, fine.values[::2])
    ]
    errors.append([error_of(draw, svmpath.select(curve).value) for curve in tried])
    print(
        "draw {}: {:.1%} wrong by the grid, {:.1%} by the path".format(
            seed, *errors[-1]
        )
    )
grid, along_path = np.mean(errors, axis=0)
print(f"mean:   {grid:.1%} wrong by the grid, {along_path:.1%} by the path")

# %%
# The path is not free of luck either: the score is estimated from 300 points, and
# the lowest of many estimates is too low. ``nested_error()`` of the estimators
# corrects for that; see :doc:`/guide/honest_error`.
#
# Next: :ref:`sphx_glr_gallery_choosing_plot_surface.py` looks at ``C`` and
# ``gamma`` together.

# sphinx_gallery_thumbnail_number = 1
