"""
Unbalanced classes and the threshold
====================================

If one row in ten is of the class that you look for, accuracy says little: a
machine that never finds it is right nine times out of ten. Choose by another
score, and tune the cut as well.
"""

# %%
# Three ways to fit
# -----------------
# All three see the same rows. The second chooses ``C`` and ``gamma`` by F1. The
# third also moves the cut between the classes. No further fits are needed: both
# use the held-out decision values that ``fit`` has anyway. The first two find so
# few rows of class 1 that ``fit`` warns; here that is what we want to see.

import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.metrics import f1_score, precision_score, recall_score

from svmpath import PathSVC, WeakModelWarning

warnings.simplefilter("ignore", WeakModelWarning)
plt.style.use("petroff10")  # colours that everyone can tell apart


def draw(n, seed):
    """One row in ten is of class 1."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 10 == 0).astype(int)
    return rng.normal(size=(n, 2)) + 1.2 * y[:, None], y


X, y = draw(500, seed=0)
X_new, y_new = draw(20_000, seed=1)

models = {
    "accuracy": PathSVC(random_state=0),
    "F1": PathSVC(scoring="f1", random_state=0),
    "F1 and threshold": PathSVC(scoring="f1", threshold="tune", random_state=0),
}
rows = {}
for name, model in models.items():
    found = model.fit(X, y).predict(X_new)
    rows[name] = {
        "threshold": model.threshold_,
        "accuracy": np.mean(found == y_new),
        "precision": precision_score(y_new, found, zero_division=0.0),
        "recall": recall_score(y_new, found),
        "F1": f1_score(y_new, found),
    }
table = pd.DataFrame(rows).T
print(table.round(3).to_string())

# %%
# The columns after the first are measured on 20,000 new rows. Choosing by F1
# alone changes hardly anything here: a similar machine is best. The cut makes
# the difference. It gives up some accuracy, and finds twice as many rows of
# class 1.

# %%
# Where is the cut?
# -----------------
# Decision values of the rows by machines that have not seen them. At zero, most
# rows of class 1 are on the wrong side.

tuned = models["F1 and threshold"]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
bins = np.linspace(-1.6, 1.2, 41)
for label, name in enumerate(["class 0", "class 1"]):
    values = tuned.held_out_decisions()[y == label]
    ax.hist(values, bins, alpha=0.7, label=name, density=True)
ax.axvline(0.0, color="black", linestyle="--", label="the usual cut, 0")
ax.axvline(
    tuned.threshold_, color="black", label=f"the tuned cut, {tuned.threshold_:.2f}"
)
ax.set(xlabel="held-out decision value", ylabel="density")
ax.set_title("Held-out decision values and two cuts")
ax.legend()
plt.show()

# %%
# F1 over the cut
# ---------------
# The held-out curve is what the choice sees. The curve of the new rows is the
# truth: they have their maximum in nearly the same place.

cuts = np.linspace(-1.2, 0.6, 91)
held_out, new = tuned.held_out_decisions(), tuned.decision_function(X_new)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(cuts, [f1_score(y, held_out > cut) for cut in cuts], label="held-out rows")
ax.plot(
    cuts,
    [f1_score(y_new, new > cut) for cut in cuts],
    "--",
    label="20,000 new rows",
)
ax.axvline(tuned.threshold_, color="black", linewidth=1.0, label="the tuned cut")
ax.set(xlabel="cut", ylabel="F1", title="F1 as a function of the cut")
ax.legend()
plt.show()

# %%
# Next: ``class_weight="balanced"`` changes the machine instead of the cut;
# :doc:`/guide/scores` compares scores and lists what else ``scoring`` takes.

# sphinx_gallery_thumbnail_number = 1
