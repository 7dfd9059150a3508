"""Sphinx-Gallery: films that an example writes as ``.gif`` files are shown where it writes them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def show_films(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Move the films beside the script to the images of its page, and return the text that shows them."""
    films = sorted(Path(block_vars["src_file"]).parent.glob("*.gif"))
    shown = []
    for film, image in zip(films, block_vars["image_path_iterator"], strict=False):  # the iterator has no end
        place = Path(image).with_suffix(".gif")
        shutil.move(film, place)
        shown.append(figure_rst([str(place)], gallery_conf["src_dir"], film.stem.replace("_", " ")))
    return "".join(shown)
