"""
Prediction intervals
====================

A prediction is a number; how far may the truth be from it? ``predict_interval``
answers with an interval that contains nine of ten new targets, without a set of
rows put aside for calibration.
"""

# %%
# Fit, and ask
# ------------
# :class:`~svmpath.PathSVR` chooses ``C`` and ``gamma`` by leave-one-out. Each
# interval compares the new row with every training row, by the machine without
# that row (jackknife+). For least squares, the default, these machines need no
# fit.

import numpy as np
from matplotlib import pyplot as plt

from svmpath import PathSVR

plt.style.use("petroff10")  # colours that everyone can tell apart


def draw(n, seed):
    """A wave with noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 6.0, n)
    return x[:, None], np.sin(2.0 * x) + 0.3 * x + 0.25 * rng.normal(size=n)


X, y = draw(120, seed=0)
X_new, y_new = draw(5000, seed=1)
model = PathSVR(random_state=0).fit(X, y)

t = np.linspace(0.0, 6.0, 300)[:, None]
low, high = model.predict_interval(t, coverage=0.9).T
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.fill_between(t[:, 0], low, high, alpha=0.25, label="90 % interval")
ax.plot(t[:, 0], model.predict(t), label="prediction")
ax.scatter(X[:, 0], y, s=12, color="black", label="training rows")
ax.set(xlabel="x", ylabel="y", title="Prediction and intervals")
ax.legend()
plt.show()

# %%
# Is it true?
# -----------
# Count on 5000 new rows how often the target is inside, for several levels.

levels = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
measured = []
for level in levels:
    low, high = model.predict_interval(X_new, coverage=level).T
    measured.append(np.mean((low <= y_new) & (y_new <= high)))
    width = np.mean(high - low)
    print(
        f"asked for {level:.0%}: {measured[-1]:.1%} inside, mean width {width:.2f}"
    )

figure, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
ax.plot([0.45, 1.0], [0.45, 1.0], "k--", linewidth=0.8, label="as asked for")
ax.plot(levels, measured, marker="o", label="measured")
ax.set(xlabel="coverage asked for", ylabel="fraction inside", aspect="equal")
ax.set_title("Coverage on 5000 new rows")
ax.legend()
plt.show()

# %%
# Outside the data
# ----------------
# The promise is about rows like the training rows. Outside their range there is
# none: the machine goes its own way, and takes its intervals along.

for x in (8.0, 10.0):
    ((low, high),) = model.predict_interval([[x]], coverage=0.9)
    wave = np.sin(2.0 * x) + 0.3 * x
    print(
        f"x = {x:g}: interval from {low:.2f} to {high:.2f}, the wave at {wave:.2f}"
    )

# %%
# Next: classifiers have ``predict_set``, the labels that are plausible; see
# :doc:`/guide/intervals`.

# sphinx_gallery_thumbnail_number = 1
