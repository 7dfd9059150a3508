"""The film of README.md and of the first page of the site: ``python examples/path_film.py [FOLDER]``.

A hinge machine on its path from a small C to a large one. There are two files, for light and for dark pages.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import svmpath
from svmpath.datasets import banana
from svmpath.displays import BoundaryDisplay

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "_static"
STYLES = {  # the colours of the site's pages; the two classes differ in lightness, too
    "light": {"background": "#ffffff", "ink": "#222832", "classes": ["#0072b2", "#d55e00"]},
    "dark": {"background": "#14181e", "ink": "#ced6dd", "classes": ["#56b4e9", "#e69f00"]},
}
FRAMES = 36
LAST = 8  # times that the last machine is shown: a film that starts again at once is hard to follow


def style(background: str, ink: str, classes: list[str]) -> dict:
    """Settings of matplotlib."""
    inked = ["text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"]
    return {
        **dict.fromkeys(inked, ink),
        **dict.fromkeys(["figure.facecolor", "axes.facecolor", "savefig.facecolor"], background),
        "axes.prop_cycle": plt.cycler(color=classes),
        "figure.figsize": (6.4, 3.8),
        "figure.constrained_layout.use": True,
        "legend.facecolor": background,
        "legend.edgecolor": background,
    }


def film(folder: Path, frames: int = FRAMES) -> list[Path]:
    """Write the films to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    X, y = banana(150, random_state=0)
    path = svmpath.trace(X, y, loss="hinge", span=(0.03, 300.0), gamma=1.0)
    values = np.geomspace(*path.span, frames)
    files = []
    for name, colours in STYLES.items():
        with plt.rc_context(style(**colours)):
            display = BoundaryDisplay.from_path(path, 1.0, grid_resolution=70)
            files.append(folder / f"path_film_{name}.gif")
            display.animate(files[-1], [*values, *[values[-1]] * LAST], fps=10, dpi=80)
            plt.close("all")
    return files


if __name__ == "__main__":
    for file in film(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER):
        print(file.name, f"{file.stat().st_size / 1000:.0f} kB")
