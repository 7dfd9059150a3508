"""
What a low rank costs, seen by its certificate
==============================================

A machine on landmarks is not the machine on the full kernel. How far apart they
are can be said without fitting the latter: the coefficients are feasible on the
full kernel, so that they have a duality gap there, and the gap bounds the distance
of every decision value.

Two data sets of 1500 rows: in two columns the spectrum of the kernel decays fast,
in ten it does not.
"""

# %%
# For each number of landmarks, the gap on the full kernel, the bound, and the true
# distance on new rows.

import matplotlib.pyplot as plt
import numpy as np

import svmpath
from svmpath import criteria


def rows(d, seed):
    """Labels that depend on two columns, of which one in ten is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1500, d))
    y = np.sign(np.sin(2 * X[:, 0]) + X[:, 1])
    return X, np.where(rng.random(1500) < 0.1, -y, y)


ranks = [20, 50, 100, 200, 400, 800]
seen = {}
for d in (2, 10):
    (X, y), (new, _) = rows(d, 0), rows(d, 1)
    full = svmpath.trace(X, y, gamma=1 / d)(1.0)
    for rank in ranks:
        low = svmpath.trace(X, y, gamma=1 / d, rank=rank, random_state=0)(1.0)
        certificate = criteria.approximation_gap(low)
        distance = np.abs(full(new) - low(new)).max()
        assert distance <= certificate.bound
        seen[d, rank] = certificate.gap, certificate.bound, distance

# %%
# In two columns 100 landmarks are as good as all rows, and the certificate says so.
# In ten columns even 800 are not: the gap falls slowly. ``PathSVC`` looks at it
# when it decides whether to go on with the full kernel.

figure, axes = plt.subplots(
    1, 2, figsize=(9, 3.6), sharey=True, layout="constrained"
)
for ax, d in zip(axes, (2, 10), strict=True):
    gap, bound, distance = np.array([seen[d, rank] for rank in ranks]).T
    ax.loglog(ranks, gap, "o-", label="duality gap on the full kernel")
    ax.loglog(ranks, bound, "s-", label="bound on |f'(x) - f(x)|")
    ax.loglog(ranks, distance, "^-", label="largest difference on new rows")
    ax.axhline(0.01, color="0.6", lw=1, ls=":")
    ax.set(xlabel="landmarks", title=f"{d} columns")
axes[0].legend()

print(f"{'columns':>7} {'rank':>5} {'gap':>9} {'bound':>9} {'distance':>9}")
for (d, rank), values in seen.items():
    print(f"{d:7d} {rank:5d} " + " ".join(f"{value:9.2g}" for value in values))

plt.show()

# sphinx_gallery_thumbnail_number = 1
