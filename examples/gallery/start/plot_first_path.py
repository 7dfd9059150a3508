"""
A first path
============

A support vector machine is a function of its hyper-parameters.
:func:`svmpath.trace` computes this function: call it with any value of ``C`` to
get the machine there. Nothing is fitted again.
"""

# %%
# Trace the path
# --------------
# One hundred points in two classes, and the machine of scikit-learn's ``SVC``
# (the hinge loss) for all ``C`` from 0.01 to 1000.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.svm import SVC

import svmpath
from svmpath import criteria
from svmpath.datasets import banana
from svmpath.displays import BoundaryDisplay, CurveDisplay, PathDisplay

plt.style.use("petroff10")  # colours that everyone can tell apart

X, y = banana(100, random_state=0)
path = svmpath.trace(X, y, loss="hinge", over="C", span=(0.01, 1000.0), gamma=1.0)
print(path)

# %%
# Every sample has a multiplier, with the sign of its label: 0 if the sample does
# not matter, 1 or -1 if it violates the margin, and between on the margin.
# Between two *breakpoints*, the ticks at the bottom, the same samples lie on the
# margin, and one formula holds for all ``C``.

display = PathDisplay.from_path(path)
display.ax_.set_title(f"A path with {len(path.breakpoints)} breakpoints")
plt.show()

# %%
# Call it
# -------
# ``path(C)`` is exact at every value, not only at the breakpoints. A fit by
# ``SVC`` at the same ``C`` agrees.

machine = path(0.7)
svc = SVC(C=0.7, gamma=1.0, tol=1e-10).fit(X, y)
difference = np.abs(machine(X) - svc.decision_function(X)).max()
print(f"decision values differ from those of SVC by at most {difference:.1e}")

# %%
# A small ``C`` gives a smooth boundary that many samples violate. A large ``C``
# follows single samples.

figure, axes = plt.subplots(
    1, 3, figsize=(9, 3.2), layout="constrained", sharex=True, sharey=True
)
for ax, value in zip(axes, [0.05, 2.0, 500.0], strict=True):
    display = BoundaryDisplay.from_path(path, value, ax=ax)
    ax.get_legend().remove()
    ax.set_title(
        f"C = {value:g}: {len(path(value).support)} support vectors",
        fontsize="medium",
    )
plt.show()

# %%
# Score it, and choose
# --------------------
# Leave-one-out errors follow from the path as well, exactly.
# :func:`svmpath.select` takes the best value.

curve = criteria.loo(path, np.geomspace(0.01, 1000.0, 41))
choice = svmpath.select(curve)
print(f"C = {choice.value:.3g} has a leave-one-out error of {choice.score:.1%}")

display = CurveDisplay.from_curve(curve)
display.ax_.set_title("Leave-one-out error along the path")
plt.show()

# %%
# Next: :class:`svmpath.PathSVC` does all of this in ``fit``, and chooses
# ``gamma`` as well.

# sphinx_gallery_thumbnail_number = 2
