"""
A hundred thousand rows
=======================

The kernel matrix of a hundred thousand rows would take 80 GB. In low rank, the
path over ``C`` *and* the leave-one-out error of all rows take seconds.
"""

# %%
# Path and curve
# --------------
# The squared hinge on 150 landmarks. The time of both steps grows in proportion
# to the number of rows.

from time import perf_counter

import numpy as np
from matplotlib import pyplot as plt

import svmpath
from svmpath import criteria
from svmpath.datasets import banana
from svmpath.displays import CurveDisplay

plt.style.use("petroff10")  # colours that everyone can tell apart

X_new, y_new = banana(20_000, random_state=1)
values = np.geomspace(1e-3, 1e2, 11)
low_rank = {"rank": 150, "landmarks": "uniform", "random_state": 0}
sizes, times, curves = [6_250, 12_500, 25_000, 50_000, 100_000], [], {}
for n in sizes:
    X, y = banana(n, random_state=0)
    begun = perf_counter()
    path = svmpath.trace(X, y, span=(1e-3, 1e2), gamma=1.0, **low_rank)
    curves[n] = criteria.span(path, values)
    times.append(perf_counter() - begun)

# %%
# What you get
# ------------
# The error of the choice, predicted from the training rows alone, and measured on
# new rows.

choice = svmpath.select(curves[sizes[-1]])
measured = np.mean(np.sign(choice.solution(X_new)) != y_new)
print(f"C = {choice.value:.3g}: leave-one-out error {choice.score:.2%}")
print(f"error on 20,000 new rows: {measured:.2%}")
print(f"residual of the kernel matrix: {path.residual:.1e}")

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
shown = {f"{n:,} rows": curves[n] for n in (sizes[0], sizes[-1])}
CurveDisplay.from_curve(shown, ax=axes[0])
axes[0].set_title("Leave-one-out error")
axes[1].loglog(sizes, times, marker="o", label="path and curve")
line = times[-1] * np.array(sizes) / sizes[-1]
axes[1].loglog(sizes, line, "k--", label="proportional to n")
axes[1].set(xlabel="rows", ylabel="seconds", title="Time")
axes[1].set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize="small")
axes[1].minorticks_off()
axes[1].legend()
plt.show()

# %%
# The band of one standard error is four times as wide for 6,250 rows as for
# 100,000. More rows do not only train a better machine; they also tell you better
# which one it is.
#
# Do it in one line
# -----------------
# ``PathSVC().fit(X, y)`` also chooses ``gamma`` and the rank: it starts with 300
# landmarks and takes longer than this example. :doc:`/guide/low_rank`
# says how it decides.

# sphinx_gallery_thumbnail_number = 1
