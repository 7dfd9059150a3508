"""
Novelty with a known false-alarm rate
=====================================

Which new rows are not like the rows that you have? A one-class machine learns
where the rows are. Its ``nu`` should be the share of false alarms, but on new
rows it is not, unless the threshold is set on rows that were held out.
"""

# %%
# Fit, and look
# -------------
# :class:`~svmpath.PathOneClassSVM` chooses ``gamma`` without labels: rows whose
# columns were partly replaced by uniform draws should have small p-values.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.svm import OneClassSVM

from svmpath import PathOneClassSVM

plt.style.use("petroff10")  # colours that everyone can tell apart


def draw(n, seed):
    """A noisy ring."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    return ring + 0.12 * rng.normal(size=(n, 2))


X, fresh = draw(150, seed=0), draw(5000, seed=1)
model = PathOneClassSVM(nu=0.1).fit(X)

x = np.linspace(-2.0, 2.0, 201)
grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
p = model.p_values(grid).reshape(201, 201)
figure, ax = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
filled = ax.contourf(x, x, p, levels=[0.0, 0.05, 0.1, 0.3, 0.6, 1.0], cmap="Blues")
ax.contour(x, x, p, levels=[0.1], colors="black", linewidths=1.0)
ax.scatter(*X.T, s=8, color="black")
ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
ax.set_title("p-values; the line is at nu = 0.1")
figure.colorbar(filled, ax=ax, label="p-value")
plt.show()

# %%
# The hole in the middle is seen: a row there has a small p-value.

centre, outside = model.p_values([[0.0, 0.0], [2.0, 2.0]])
print(
    f"gamma = {model.gamma_:.3g}; p = {centre:.3f} in the hole, "
    f"{outside:.3f} outside"
)

# %%
# False alarms
# ------------
# Rows from the same source are no novelties. How many of 5000 are rejected, for
# several ``nu``, and how many by scikit-learn's machine with the same ``gamma``?

levels = np.array([0.02, 0.05, 0.1, 0.2, 0.3])
ours, theirs = [], []
for nu in levels:
    held = PathOneClassSVM(nu=nu, gamma=model.gamma_).fit(X)
    plain = OneClassSVM(nu=nu, gamma=model.gamma_).fit(X)
    ours.append(np.mean(held.predict(fresh) == -1))
    theirs.append(np.mean(plain.predict(fresh) == -1))
    print(
        f"nu = {nu:.2f}: {ours[-1]:.3f} rejected, by OneClassSVM {theirs[-1]:.3f}"
    )

figure, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
ax.plot([0.0, 0.45], [0.0, 0.45], "k--", linewidth=0.8, label="as asked for")
ax.plot(levels, ours, marker="o", label="PathOneClassSVM")
ax.plot(levels, theirs, marker="s", label="OneClassSVM")
ax.set(xlabel="nu", ylabel="rejected share of fresh rows")
ax.set_title("False alarms on 5000 fresh rows")
ax.legend()
plt.show()

# %%
# Next: p-values of rows beside the predictions of any tuned model, and the path
# over ``nu``; see :doc:`/guide/novelty`.

# sphinx_gallery_thumbnail_number = 1
