"""
A fan of quantiles
==================

How wide the range of plausible values is can depend on where you are. Quantile
regression says so: one fit, then every quantile from one path.
"""

# %%
# One fit, a whole distribution
# -----------------------------
# The noise of this wave grows with ``x``. ``loss="pinball"`` predicts quantiles.
# ``C`` and ``gamma`` are chosen for three of them together, by the held-out
# pinball loss; ``predict_quantiles`` has all others from the path over the
# quantile, without another search.

import numpy as np
from matplotlib import pyplot as plt

from svmpath import PathSVR
from svmpath.displays import QuantileDisplay

plt.style.use("petroff10")  # colours that everyone can tell apart


def draw(n, seed):
    """A wave whose noise grows."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 6.0, n)
    return x[:, None], np.sin(x) + (0.05 + 0.12 * x) * rng.normal(size=n)


X, y = draw(250, seed=0)
X_new, y_new = draw(5000, seed=1)
model = PathSVR(loss="pinball", quantile=[0.1, 0.5, 0.9], random_state=0)
model.fit(X, y)

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
fan = QuantileDisplay.from_estimator(
    model, X, y, quantiles=[0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95], ax=ax
)
ax.set(title="Seven quantiles after one fit", xlabel="x", ylabel="y")
plt.show()

# %%
# Do they keep what they promise?
# -------------------------------
# Of 5000 new targets, the share below each of 19 predicted quantiles.

levels = np.linspace(0.05, 0.95, 19)
figure, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
shares = QuantileDisplay.from_estimator(
    model, X_new, y_new, quantiles=levels, kind="calibration", ax=ax
).shares
ax.set_title("Shares of 5000 new targets")
plt.show()
print(f"largest difference: {np.abs(shares - levels).max():.3f}")

# %%
# Crossings
# ---------
# Neighbouring quantiles are fitted apart, so their curves can cross. Predictions
# of a row are sorted, which is called rearrangement, and never makes them worse.

few, many = [0.1, 0.5, 0.9], levels
for some in (few, many):
    crossed = model.count_crossings(X_new, some)
    print(f"{len(some)} quantiles cross in {crossed} of 5000 rows before that")

plain = model.predict_quantiles(X_new, many, rearrange=False)
ordered = model.predict_quantiles(X_new, many)


def pinball(f):
    """The mean pinball loss over all quantiles."""
    e = y_new[:, None] - f
    return np.maximum(many * e, (many - 1.0) * e).mean()


print(f"pinball loss: {pinball(plain):.5f}, sorted {pinball(ordered):.5f}")

# %%
# Intervals that are as wide as they need to be
# ---------------------------------------------
# ``predict_interval`` moves two quantiles until held-out targets are inside as
# often as asked for. Least squares has intervals of nearly one width.

squares = PathSVR(random_state=0).fit(X, y)
covered = {}
# Without a method, the pair of quantiles with the narrowest intervals is moved;
# here it is to be that of the coverage, which follows the noise more closely.
low_high = {
    "quantiles": model.predict_interval(X_new, coverage=0.8, method="cqr_nominal"),
    "least squares": squares.predict_interval(X_new, coverage=0.8),
}
for name, each in low_high.items():
    low, high = each.T
    inside, width = (low <= y_new) & (y_new <= high), high - low
    left, right = X_new[:, 0] < 1.5, X_new[:, 0] > 4.5
    covered[name] = inside.mean(), inside[left].mean(), inside[right].mean()
    print(
        f"{name}: {covered[name][0]:.1%} inside; {covered[name][1]:.1%} of small x "
        f"({width[left].mean():.2f} wide), {covered[name][2]:.1%} of large x "
        f"({width[right].mean():.2f} wide)"
    )

# %%
# Both contain about 80 % of all targets. Only the first does so for small and
# for large x. More in :doc:`/guide/quantiles`.

# sphinx_gallery_thumbnail_number = 1
