r"""
Wang's s-path and its jumps
===========================

A linear machine with an l1 penalty can be followed over the penalty ``lambda1``,
or over its size :math:`s = \lVert\beta\rVert_1`. Wang, Zhu and Zou (2006) follow
the size. Lachaud et al. (2014) show that the machine can jump as ``s`` grows.
Here is their example; nearly all of the path is inside its jumps.
"""

# %%
# Two normal classes
# ------------------
# Five variables with correlation 0.8, one hundred samples, and nearly no
# quadratic penalty: ``lambda2 = 0.001``.

import numpy as np
from matplotlib import pyplot as plt

import svmpath
from svmpath.displays import PathDisplay
from svmpath.paths import SPath

plt.style.use("petroff10")  # colours that everyone can tell apart

rng = np.random.default_rng(0)
y = np.where(np.arange(100) % 2, 1.0, -1.0)
sigma = np.where(np.eye(5) > 0, 1.0, 0.8)
X = rng.normal(size=(100, 5)) @ np.linalg.cholesky(sigma).T + y[:, None]

path = svmpath.trace_elastic(X, y, lambda2=1e-3)
by_size = SPath(path)
jumps = by_size.jumps()

# %%
# Over ``lambda1`` the multipliers of the samples are continuous and piecewise
# linear. The coefficients are continuous, too, but stand still nearly everywhere
# and then move within very short intervals: look at them between 9 and 11.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
PathDisplay.from_path(path, what="multipliers", ax=axes[0], breakpoints=False)
axes[0].set_title("Multipliers: no jumps")
PathDisplay.from_path(
    path, np.linspace(9.0, 11.0, 600), ax=axes[1], breakpoints=False
)
axes[1].set_title("Coefficients: flat, then steep")
plt.show()

# %%
# Jumps
# -----
# The same machines as a function of ``s``. Where the coefficients stand still,
# ``s`` does too, but the multipliers move: a whole interval of ``lambda1``
# becomes one value of ``s``, and the multipliers jump there.

values = by_size.values
sizes = [path(value).norm1 for value in values]
alpha = np.abs([path(value).alpha for value in values])
moving = np.flatnonzero(np.ptp(alpha, axis=0) > 0.5)

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(sizes, alpha[:, moving], linewidth=0.9)
ax.set(xlabel="s", ylabel="multiplier, without its sign")
ax.set_title(f"Multipliers over s: {len(jumps)} jumps (vertical lines)")
plt.show()

# %%
# In numbers: the jumps hide nearly all of the path over ``lambda1``.

hidden = sum(jump.first - jump.last for jump in jumps) / (
    path.span[0] - path.span[1]
)
print(f"{len(jumps)} jumps of the s-path hide {hidden:.2%} of the way in lambda1.")
print("The five that take up most of it:")
for jump in sorted(jumps, key=lambda jump: jump.last - jump.first)[:5]:
    stretch = f"lambda1 from {jump.first:.3f} to {jump.last:.3f}"
    print(
        f"  s = {jump.s:.4f}: {stretch}, a multiplier changes by {jump.change:.2f}"
    )

# %%
# This is why :func:`svmpath.trace_elastic` follows ``lambda1``, and why
# :class:`svmpath.paths.SPath` is a view of that path and not a path of its own.
# ``by_size(s)`` is the machine of size ``s``, also inside a jump:

s = jumps[0].s
machine = by_size(s)
print(f"asked for s = {s:.4f}, got {machine.norm1:.4f}")
print(f"relative duality gap {machine.gap:.1e}")

# %%
# A larger lambda2
# ----------------
# A larger quadratic penalty moves the coefficients all along the path, and the
# jumps go away.

shares = {}
for lambda2 in (1e-3, 1.0, 10.0, 100.0):
    other = svmpath.trace_elastic(X, y, lambda2=lambda2)
    length = sum(jump.first - jump.last for jump in SPath(other).jumps())
    shares[lambda2] = length / (other.span[0] - other.span[1])
    print(
        f"lambda2 = {lambda2:g}: {shares[lambda2]:.1%} of the path is inside jumps"
    )

# %%
# Next: :doc:`/math/elastic_hinge`.

# sphinx_gallery_thumbnail_number = 2
