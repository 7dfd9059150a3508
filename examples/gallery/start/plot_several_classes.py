"""
Several classes
===============

:class:`~svmpath.PathSVC` is a scikit-learn classifier that chooses ``C`` and
``gamma`` in ``fit``. With more than two classes it trains one machine per class,
that class against the rest. All of them share the work on the kernel.
"""

# %%
# Ten digits
# ----------
# Half of scikit-learn's digits: 898 images of 8 by 8 pixels. The other half is
# kept for a test.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split

from svmpath import PathSVC
from svmpath.displays import MarginDisplay

plt.style.use("petroff10")  # colours that everyone can tell apart

X, y = load_digits(return_X_y=True)
seen = X.std(axis=0) > 1.0  # pixels at the edges are nearly always white
train, test = train_test_split(
    np.arange(len(y)), test_size=0.5, random_state=0, stratify=y
)
X_train, X_test, y_train, y_test = (
    X[train][:, seen],
    X[test][:, seen],
    y[train],
    y[test],
)

model = PathSVC(random_state=0).fit(X_train, y_train)
print(f"chosen: loss {model.loss_}, C = {model.C_:.3g}, gamma = {model.gamma_:.3g}")
print(f"leave-one-out error {model.held_out_error():.2%}")
print(f"error on the other half {1 - model.score(X_test, y_test):.2%}")

# %%
# Which digits are confused?
# --------------------------
# ``fit`` knows the decision values of every training image by machines that have
# not seen it. So there is a confusion matrix without a test set.

held_out = model.classes_[np.argmax(model.held_out_decisions(), axis=1)]
display = ConfusionMatrixDisplay.from_predictions(
    y_train, held_out, cmap="Blues", colorbar=False
)
display.ax_.set_title("Held-out decisions on the training images")
plt.show()

# %%
# Which images are hard?
# ----------------------
# The margin of an image is the decision value of its own class minus the largest
# of the others. Below zero it is misread.

display = MarginDisplay.from_estimator(model)
display.ax_.set_title("Held-out margins of 898 digits")
plt.show()

# %%
# The table behind the picture names the images, the worst first. Here are the
# first six.

worst = display.table().head(6)
images = load_digits().images[train]
figure, axes = plt.subplots(1, 6, figsize=(8, 2.0), layout="constrained")
for ax, row in zip(axes, worst.itertuples(), strict=True):
    ax.imshow(images[row.row], cmap="gray_r")
    ax.set_title(f"{row.label}, read as {held_out[row.row]}", fontsize="medium")
    ax.set_axis_off()
figure.suptitle("The smallest held-out margins")
plt.show()

# %%
# Next: :ref:`sphx_glr_gallery_predictions_plot_label_errors.py` uses the same
# table to find wrong labels.

# sphinx_gallery_thumbnail_number = 3
