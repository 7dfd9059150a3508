"""
Leave-one-out is a step function
================================

The leave-one-out error counts samples, so as a function of ``C`` it can only
change in steps. For the hinge machine svmpath finds every step, exactly.
"""

# %%
# All steps at once
# -----------------
# ``exact=True`` follows the path of the machine without each sample in turn, and
# finds where its decision on that sample changes sign.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.svm import SVC

import svmpath
from svmpath import criteria
from svmpath.datasets import banana
from svmpath.displays import CurveDisplay

plt.style.use("petroff10")  # colours that everyone can tell apart

X, y = banana(80, random_state=0)
path = svmpath.trace(X, y, loss="hinge", span=(0.05, 1000.0), gamma=1.0)
steps = criteria.loo(path, exact=True)

display = CurveDisplay.from_curve(steps, errors=False)
display.ax_.set_title(f"Leave-one-out error in {len(steps.values)} intervals")
plt.show()

# %%
# The same by refitting
# ---------------------
# Leaving out each row in turn with ``SVC`` gives the same numbers, one ``C`` at a
# time and 80 fits each.

for C in (0.3, 3.0, 30.0):
    svc = SVC(C=C, gamma=1.0, tol=1e-8)
    refitted = 1.0 - cross_val_score(svc, X, y, cv=LeaveOneOut()).mean()
    print(f"C = {C:4.1f}: {steps(C):.4f} on the path, {refitted:.4f} by 80 fits")

# %%
# Where a step comes from
# -----------------------
# Each line is the held-out decision value of one sample, times its label. Where
# it crosses zero, the sample becomes right or wrong, and the error goes down or
# up by 1/80. Only samples that change are drawn.

margins = steps.decisions * steps.target
changing = np.flatnonzero(np.ptp(np.sign(margins), axis=0) > 0)
figure, (above, below) = plt.subplots(
    2, 1, figsize=(7, 6.5), layout="constrained", sharex=True
)
CurveDisplay.from_curve(steps, ax=above, errors=False)
above.set(title="The error ...", xlabel="")
below.semilogx(steps.values, margins[:, changing], linewidth=0.9, alpha=0.8)
below.axhline(0.0, color="black", linewidth=0.8)
below.set(xlabel="C", ylabel="held-out value times label", ylim=(-1.5, 1.5))
below.set_title(f"... and the {len(changing)} samples that change it")
plt.show()

# %%
# What this means for the choice
# ------------------------------
# Many values of ``C`` tie, and a difference of one step is one sample. Compare it
# with the standard error before you trust it.

best = int(np.argmin(steps.scores))
lowest, spread = steps.scores[best], steps.standard_errors[best]
print(
    f"lowest error {lowest:.4f}, standard error {spread:.4f}, one step {1 / 80:.4f}"
)
near = np.flatnonzero(steps.scores <= lowest + spread)
low, high = steps.edges[near[0]], steps.edges[near[-1] + 1]
print(f"within one standard error: C from {low:.3g} to {high:.3g}")

# %%
# :func:`svmpath.select` breaks ties by the squared held-out residual;
# ``rule="one_se"`` takes the smallest ``C`` within one standard error.
#
# Next: :ref:`sphx_glr_gallery_choosing_plot_surface.py`.

# sphinx_gallery_thumbnail_number = 2
