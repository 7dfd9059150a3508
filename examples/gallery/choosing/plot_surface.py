"""
The (C, gamma) surface
======================

:func:`svmpath.surface` follows the machine over ``C`` at several values of
``gamma``, each path starting from the one beside it. The result is exact at
*every* pair in the ranges.
"""

# %%
# Scores on the surface
# ---------------------
# Paths over ``C`` at 15 values of ``gamma``, scored by exact leave-one-out at 22
# values of ``C`` each.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.svm import SVC

import svmpath
from svmpath import criteria
from svmpath.datasets import banana
from svmpath.displays import BoundaryDisplay, SurfaceDisplay

plt.style.use("petroff10")  # colours that everyone can tell apart

X, y = banana(120, random_state=0)
gammas = np.geomspace(0.05, 20.0, 15)
surface = svmpath.surface(X, y, C=(0.01, 1000.0), gamma=gammas)
curves = surface.curves(criteria.loo, np.geomspace(0.01, 1000.0, 22))
choice = svmpath.select(curves)
print(surface)
best = choice.parameters
print(f"C = {best['C']:.3g}, gamma = {best['gamma']:.3g}, error {choice.score:.1%}")

# %%
# The dashed line is the valley: the best ``C`` at each ``gamma``. It runs
# diagonally, because a machine with a narrower kernel needs a smaller ``C``.
# Large parts of the plane are nearly as good as the choice: on 120 rows, many
# pairs tie.

display = SurfaceDisplay.from_curves(curves, choice=choice)
display.ax_.set_title("Leave-one-out error")
plt.show()

# %%
# Between the paths
# -----------------
# The surface can be asked for pairs that lie on none of its paths. Compare the
# decision values there with those of ``SVC``.

pairs = [(0.3, 3.3), (7.7, 0.77), (30.0, 0.2)]
for C, gamma in pairs:
    svc = SVC(C=C, gamma=gamma, tol=1e-10).fit(X, y)
    difference = np.abs(surface(C, gamma)(X) - svc.decision_function(X)).max()
    print(f"C = {C:g}, gamma = {gamma:g}: they differ by at most {difference:.1e}")

# %%
# Three machines
# --------------
# The choice, and two pairs that are far from it: one too smooth, one that follows
# every sample.

smooth, chosen, rough = surface.paths[0], choice.curve.path, surface.paths[-1]
machines = [(smooth, 0.1), (chosen, best["C"]), (rough, 900.0)]
figure, axes = plt.subplots(
    1, 3, figsize=(9, 3.2), layout="constrained", sharex=True, sharey=True
)
for ax, (path, C) in zip(axes, machines, strict=True):
    BoundaryDisplay.from_path(path, C, ax=ax)
    ax.set_title(f"C = {C:.3g}, gamma = {path.gram.kernel.gamma:.3g}")
    ax.get_legend().remove()
plt.show()

# %%
# Next: ``PathSVC`` does not score the whole plane. It screens, then confirms a
# few pairs; see :doc:`/guide/choosing`.

# sphinx_gallery_thumbnail_number = 1
