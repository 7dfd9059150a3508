"""
Feature selection with p >> n
=============================

Eighty rows, two thousand columns, five of which matter.
:class:`~svmpath.ElasticNetSVC` follows the exact path of a linear machine over
its l1 penalty ``lambda1``, and chooses the penalty by held-out error.
"""

# %%
# Fit
# ---
# The five columns x0 to x4 differ between the classes, each a little. The other
# 1995 are noise.

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.svm import LinearSVC

from svmpath import ElasticNetSVC
from svmpath.displays import PathDisplay
from svmpath.paths.elastic import FeatureEvent

plt.style.use("petroff10")  # colours that everyone can tell apart


def draw(n, seed):
    """Two classes that differ in five of two thousand columns."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    X = rng.normal(size=(n, 2000))
    X[:, :5] += 0.9 * y[:, None]
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(2000)]), y


X, y = draw(80, seed=0)
X_new, y_new = draw(2000, seed=1)
model = ElasticNetSVC(lambda2=1.0, rule="one_se").fit(X, y)
chosen = X.columns[model.coef_[0] != 0].tolist()
print(
    f"lambda1 = {model.lambda1_:.3g} uses {len(chosen)} of 2000 columns:", *chosen
)

# %%
# The path
# --------
# ``lambda1`` falls from right to left. On the right no column is used; then they
# enter one by one, the useful ones first. The dotted line is the choice.

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
PathDisplay.from_estimator(model, ax=ax)
ax.set_title("Coefficients over lambda1")
ax.get_legend().set_loc("center left")
ax.get_legend().set_bbox_to_anchor((1.0, 0.5))
plt.show()

# %%
# The order in which the columns enter is part of the path: its events say at
# which ``lambda1`` a column becomes active.

events = [
    event for event in model.path_.events() if isinstance(event, FeatureEvent)
]
order = [event for event in events if event.target == "active"]
for event in order[:8]:
    print(f"lambda1 = {event.value:6.2f}: {X.columns[event.feature]} enters")

# %%
# Does it pay?
# ------------
# A linear machine with all columns fits the training rows without error, because
# there are more columns than rows. It does much worse on new rows.

full = LinearSVC(C=1.0, max_iter=100_000).fit(X, y)
accuracy = {
    "all 2000 columns": full.score(X_new, y_new),
    f"{len(chosen)} columns": model.score(X_new, y_new),
}
for name, value in accuracy.items():
    print(f"{name}: {value:.1%} of the new rows are right")

# %%
# ``rule="one_se"`` takes the sparsest machine whose held-out error is within one
# standard error of the lowest. The default, ``rule="min"``, keeps as many columns,
# or more:

dense = ElasticNetSVC(lambda2=1.0).fit(X, y)
print(f'rule="min" keeps {np.count_nonzero(dense.coef_)} columns')

# %%
# Next: :doc:`/guide/feature_selection`.

# sphinx_gallery_thumbnail_number = 1
