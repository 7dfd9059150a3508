"""
The kernel path as a film
=========================

Paths can go over a kernel parameter, too. Here ``gamma``, the inverse squared
width of the Gaussian kernel, grows from 0.05 to 50 while ``C`` stays at 10, and
the machine is exact at every frame.
"""

# %%
# The film
# --------
# The film shows the boundary (solid), the margins (dashed) and the support
# vectors (rings).

import numpy as np
from matplotlib import pyplot as plt

import svmpath
from svmpath import criteria
from svmpath.datasets import banana
from svmpath.displays import BoundaryDisplay, CurveDisplay, ElbowDisplay

plt.style.use("petroff10")  # colours that everyone can tell apart

X, y = banana(80, random_state=0)
path = svmpath.trace(X, y, loss="hinge", over="gamma", span=(0.05, 50.0), C=10.0)

display = BoundaryDisplay.from_path(path, 0.05, grid_resolution=60)
plt.close(display.figure_)
film = display.animate("kernel_path.gif", frames=36, fps=6, dpi=80)

# %%
# A small ``gamma`` makes the machine nearly linear. Then the boundary bends with
# the data. In the end it closes around the samples of one class, and nearly every
# row is a support vector: the machine has learnt the rows by heart.

# %%
# What happens on the way
# -----------------------
# The number of support vectors first falls and then grows until nearly all
# samples are among them. The leave-one-out error, exact as well, is lowest
# between.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
ElbowDisplay.from_path(path, ax=axes[0])
axes[0].set_title(f"Support vectors along {len(path.breakpoints)} breakpoints")
curve = criteria.loo(path, np.geomspace(0.05, 50.0, 31))
CurveDisplay.from_curve(curve, ax=axes[1])
axes[1].set_title("Leave-one-out error")
plt.show()

# %%
# The path certifies itself: ``certificate`` is the largest violation of the
# optimality conditions that was found along it.

choice = svmpath.select(curve)
few, many = len(choice.solution.support), len(path(50.0).support)
print(
    f"gamma = {choice.value:.3g}: error {choice.score:.1%}, {few} support vectors"
)
print(f"gamma = 50: {many} of {len(y)} samples are support vectors")
print(f"largest violation along the path: {path.certificate:.1e}")

# %%
# Next: :ref:`sphx_glr_gallery_choosing_plot_surface.py` lets ``C`` move as well.

# sphinx_gallery_thumbnail_number = 1
