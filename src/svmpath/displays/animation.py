"""Pictures one after another, written to a file."""

from __future__ import annotations

from pathlib import Path as File
from typing import Any

from svmpath.displays._base import need_matplotlib

_WRITERS = {".gif": "pillow", ".mp4": "ffmpeg"}


def check_file(file: Any, fps: int) -> Any:
    """The writer for a file; raises an error if there is none."""
    need_matplotlib("animate")
    from matplotlib.animation import writers

    name = _WRITERS.get(File(file).suffix.lower())
    if name is None:
        raise ValueError(f"An animation is written to a file that ends in .gif or .mp4, not to {str(file)!r}.")
    if not writers.is_available(name):
        raise RuntimeError(
            "An .mp4 needs the program ffmpeg, which was not found: install it, or write a .gif instead."
        )
    return writers[name](fps=fps)


def write_frames(writer: Any, file: str, display: Any, values: list[float], dpi: float | None) -> str:
    """One frame per value, each as the display draws it, on axes that stay where they are."""
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.subplots()
    with writer.saving(figure, file, figure.dpi if dpi is None else dpi):
        for value in values:
            ax.clear()
            display.moved(value).plot(ax)
            ax.legend(loc="upper left", fontsize="small")  # where "best" would jump from frame to frame
            writer.grab_frame()
    return file
