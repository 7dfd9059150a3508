"""
The life of a model
===================

A model is tuned once. Then it predicts and is compared with what came true, new
rows arrive, others are to be forgotten, and it moves to where there is no Python.
"""

# %%
# Tune and predict
# ----------------
# Diabetes data: the first 300 patients are known, the others come later.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes

from svmpath import PathSVR

plt.style.use("petroff10")  # colours that everyone can tell apart

X, y = load_diabetes(return_X_y=True)
model = PathSVR(scale=True, random_state=0).fit(X[:300], y[:300])
metrics = model.held_out_metrics()
rmse, r2 = metrics["root_mean_squared_error"], metrics["r2"]
print(f"Held out: root mean squared error {rmse:.1f}, R^2 {r2:.2f}")

# %%
# As good as promised?
# --------------------
# Once targets are known, compare the error with the held-out one and its interval.

error = np.sqrt(np.mean((model.predict(X[300:]) - y[300:]) ** 2))
low, high = np.sqrt(model.held_out_interval())
print(f"On {len(X) - 300} new rows: {error:.1f}")
print(f"Interval of the held-out error: {low:.1f} to {high:.1f}")

# %%
# Rows come and go
# ----------------
# ``add`` and ``forget`` give the machine of a fresh fit on the changed rows, at the
# C and gamma that were chosen. What was forgotten leaves no trace in it.

model.add(X[300:], y[300:])
model.forget(np.arange(20))
fresh = PathSVR(C=[model.C_], gamma=model.gamma_, loss=model.loss_, scale=True).fit(
    X[20:], y[20:]
)
difference = np.abs(model.predict(X) - fresh.predict(X)).max() / y.std()
print("Those of a fresh fit, to 1e-9 deviations:", difference < 1e-9)

# %%
# Which columns matter
# --------------------
# Held-out predictions with one column shuffled, without a refit.

# sphinx_gallery_thumbnail_number = 1
importance = model.importance()
order = importance.order[::-1]
fig, ax = plt.subplots(layout="constrained")
means, ends = importance.importances_mean[order], importance.intervals[order]
ax.barh(np.arange(len(order)), means, xerr=np.abs(ends.T - means))
ax.set_yticks(
    np.arange(len(order)), [load_diabetes().feature_names[j] for j in order]
)
ax.set_xlabel("rise of the held-out root mean squared error")
plt.show()

# %%
# Elsewhere
# ---------
# ``for_prediction()`` keeps what prediction needs. With the extra ``onnx``,
# ``svmpath.export.to_onnx(model, interval=0.9)`` makes a graph of predictions and
# intervals for programs without Python.

slim = model.for_prediction()
print("The same predictions:", np.allclose(slim.predict(X), model.predict(X)))
