"""Jumps of the s-path: the example of Lachaud et al. (2014), section 4.3.

Two normal classes in five variables with correlation 0.8, lambda2 = 1e-3. The machine as a function of its size
s = ||beta||_1 has jumps; as a function of lambda1 it has none: each jump is a stretch of lambda1 along which only alpha
moves. Prints the largest jumps, and draws alpha over both if matplotlib is there and a file is named:

    python examples/s_path.py [s_path.png]
"""

from __future__ import annotations

import sys

import numpy as np

import svmpath
from svmpath.paths import ElasticPath, SPath


def example(n: int = 100, seed: int = 0) -> ElasticPath:
    """The path of the paper's example."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    sigma = np.where(np.eye(5) > 0, 1.0, 0.8)
    X = rng.normal(size=(n, 5)) @ np.linalg.cholesky(sigma).T + y[:, None]
    path = svmpath.trace_elastic(X, y, lambda2=1e-3)
    assert isinstance(path, ElasticPath)
    return path


def draw(path: ElasticPath, file: str) -> None:
    """Alpha of the samples that move, over s and over lambda1."""
    import matplotlib.pyplot as plt

    by_size = SPath(path)
    alpha = np.abs([path(value).alpha for value in by_size.values])
    moving = np.flatnonzero(np.ptp(alpha, axis=0) > 1e-6)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    sizes = [path(value).norm1 for value in by_size.values]
    left.plot(sizes, alpha[:, moving], lw=0.8)
    left.set(xlabel="s", ylabel="alpha", title="indexed by the size: vertical lines are jumps")
    right.semilogx(by_size.values, alpha[:, moving], lw=0.8)
    right.invert_xaxis()
    right.set(xlabel="lambda1", title="indexed by lambda1: no jumps")
    figure.savefig(file, dpi=120, bbox_inches="tight")


def main() -> None:
    """Print the jumps; draw them if a file is named."""
    path = example()
    jumps = SPath(path).jumps()
    hidden = sum(jump.first - jump.last for jump in jumps) / (path.span[0] - path.span[1])
    print(f"{len(jumps)} jumps of the s-path hide {hidden:.1%} of the way in lambda1. The largest changes of an alpha:")
    for jump in sorted(jumps, key=lambda jump: -jump.change)[:5]:
        print(f"  s = {jump.s:.4f}: lambda1 from {jump.first:.4f} to {jump.last:.4f}, alpha by {jump.change:.3f}")
    if len(sys.argv) > 1:
        draw(path, sys.argv[1])


if __name__ == "__main__":
    main()
