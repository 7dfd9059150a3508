"""
Low rank and its residual
=========================

A kernel matrix of n rows has n times n numbers. With ``rank=`` it is replaced by
a product of two thin matrices, made from a few *landmark* rows. ``path.residual``
says what was lost: the trace of the difference, divided by the trace.
"""

# %%
# How fast does the residual fall?
# --------------------------------
# One thousand rows, and three ways to choose the landmarks.

import numpy as np
from matplotlib import pyplot as plt

import svmpath
from svmpath import criteria
from svmpath.datasets import banana

plt.style.use("petroff10")  # colours that everyone can tell apart

X, y = banana(1000, random_state=0)
values = np.geomspace(1e-2, 1e4, 19)


def path_of(rank, landmarks="rpcholesky"):
    """The path over C, in low rank or (None) with the full kernel matrix."""
    given = {} if rank is None else {"rank": rank, "landmarks": landmarks}
    given |= {"span": (1e-2, 1e4), "gamma": 1.0, "random_state": 0}
    return svmpath.trace(X, y, loss="least_squares", **given)


ranks = [3, 6, 12, 25, 50, 100]
ways = ("rpcholesky", "uniform", "kmeans")
residuals = {way: [path_of(rank, way).residual for rank in ranks] for way in ways}

# %%
# And the error?
# --------------
# The leave-one-out error is exact for the low-rank kernel. Choose ``C`` on each
# curve, and compare with the full matrix.


def error_of(path):
    """The leave-one-out error at the best C."""
    return svmpath.select(criteria.loo(path, values)).score


errors = {rank: error_of(path_of(rank)) for rank in ranks}
full = error_of(path_of(None))
for rank, residual in zip(ranks, residuals["rpcholesky"], strict=True):
    print(f"rank {rank:3d}: residual {residual:.1e}, error {errors[rank]:.1%}")
print(f"full matrix: {full:.1%}")

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for (way, values_of_way), marker in zip(residuals.items(), "osd", strict=True):
    axes[0].loglog(ranks, values_of_way, marker=marker, label=f'landmarks="{way}"')
axes[0].set(xlabel="rank", ylabel="residual", title="What the kernel matrix loses")
axes[0].legend()
axes[1].semilogx(ranks, list(errors.values()), marker="o", label="low rank")
axes[1].axhline(full, color="black", linestyle="--", label="full matrix")
axes[1].set(
    xlabel="rank", ylabel="leave-one-out error", title="What the machine loses"
)
axes[1].legend()
for ax in axes:
    ax.set_xticks(ranks, [str(rank) for rank in ranks])
    ax.minorticks_off()
plt.show()

# %%
# The error is as low as that of the full matrix long before the residual is
# small: the directions that are lost carry little that the labels need.
#
# Ask for a residual
# ------------------
# A ``rank`` between 0 and 1 is a target for the residual; you get as many
# landmarks as that takes.

for target in (1e-1, 1e-2, 1e-3):
    path = path_of(target)
    print(
        f"rank={target:g}: {path.gram.rank} landmarks, residual {path.residual:.1e}"
    )

# %%
# With many rows the estimators choose the rank by themselves, and double it as
# long as that helps.
#
# Next: :ref:`sphx_glr_gallery_scale_plot_hundred_thousand_rows.py`.

# sphinx_gallery_thumbnail_number = 1
