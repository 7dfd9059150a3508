"""The pictures of README.md come from a script of the repository, and stay small enough for a page."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "docs" / "_static"


@pytest.mark.parametrize(
    "file", sorted(STATIC.rglob("*.gif")) + sorted(STATIC.rglob("*.png")), ids=lambda file: file.name
)
def test_pictures_are_small(file):
    assert file.stat().st_size < 1_500_000


@pytest.mark.slow
def test_film_is_made_by_its_script(tmp_path):
    image = pytest.importorskip("PIL.Image")
    film = runpy.run_path(str(ROOT / "examples" / "path_film.py"))["film"]
    for file in film(tmp_path, frames=3):
        kept = STATIC / file.name
        with image.open(file) as made, image.open(kept) as shown:
            assert (made.format, made.size) == (shown.format, shown.size)
            assert made.n_frames > 1
