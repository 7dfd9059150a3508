"""
Finding label errors
====================

A training row whose label is wrong is usually contradicted by the machine that
has not seen it. ``fit`` knows the held-out decision value of every row, so a list
of suspects costs nothing.
"""

# %%
# Spoil some labels
# -----------------
# Breast cancer data: 569 rows. Five percent of the labels are turned round, and
# the classifier is not told which.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

from svmpath import PathSVC
from svmpath.displays import MarginDisplay

plt.style.use("petroff10")  # colours that everyone can tell apart

X, y = load_breast_cancer(return_X_y=True)
spoiled = np.random.default_rng(0).choice(len(y), size=28, replace=False)
noisy = y.copy()
noisy[spoiled] = 1 - noisy[spoiled]

model = PathSVC(scale=True, random_state=0).fit(X, noisy)

# %%
# The table
# ---------
# ``held_out_table()`` has one row per sample, likely label errors first.
# ``probability`` is that of the label the sample has.

table = model.held_out_table().copy()
table["spoiled"] = np.isin(table["sample"], spoiled)
shown = ["sample", "label", "predicted", "decision", "probability", "spoiled"]
print(table[shown].head(8).round(3).to_string(index=False))

# %%
# How many of the spoiled labels do you find if you check the first 28 rows, or
# the first 56? By checking rows at random you would find one in twenty.

found = np.cumsum(table["spoiled"].to_numpy())
for checked in (14, 28, 56):
    print(
        f"{checked} rows checked: {found[checked - 1]} of 28 spoiled labels found"
    )

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(np.arange(1, len(y) + 1), found, label="in the order of held_out_table()")
ax.plot([0, len(y)], [0, len(spoiled)], linestyle="--", label="at random")
ax.axvline(
    len(spoiled), color="black", linestyle=":", label="as many as were spoiled"
)
ax.set(xlabel="rows checked", ylabel="spoiled labels found")
ax.set_title("Five percent of the labels are wrong")
ax.legend(loc="lower right")
plt.show()

# %%
# The picture
# -----------
# The margin is the held-out decision value times the label. Those far below zero
# are the suspects.

display = MarginDisplay.from_estimator(model)
worst = display.table()
is_spoiled = worst["row"].isin(spoiled).to_numpy()
at, look = (
    np.flatnonzero(is_spoiled),
    {"marker": "x", "color": "black", "zorder": 3},
)
display.ax_.scatter(at, worst["margin"][is_spoiled], label="spoiled label", **look)
display.ax_.set_title("Held-out margins")
display.ax_.legend(loc="lower right", fontsize="small")
plt.show()

# %%
# Not every suspect is an error: some patients are hard to classify. Look at them
# before you change a label, and do not report the error rate of a model whose
# training labels were chosen by the model.
#
# Next: :ref:`sphx_glr_gallery_predictions_plot_prediction_intervals.py`.

# sphinx_gallery_thumbnail_number = 1
