"""The oldest versions of the packages that pyproject.toml allows, as arguments for pip: ``python tests/oldest.py``.

Every lower bound ``name>=1.2`` becomes ``name==1.2.*``. Packages of the tests are pinned as well; those that only look
at the source (ruff, mypy, stubs) or build it are left out. ``make oldest`` installs these versions and runs the tests
with them.
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
NOT_FOR_TESTS = {"ruff", "mypy", "pandas-stubs", "build", "codespell"}


def oldest() -> list[str]:
    """The pins, one per package."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    bounds = [re.fullmatch(r"([\w-]+)>=([\d.]+)", line) for line in (
        *project["dependencies"], *extras["parquet"], *extras["arff"], *extras["dev"],
    )]  # fmt: skip
    return [f"{bound[1]}=={bound[2]}.*" for bound in bounds if bound[1] not in NOT_FOR_TESTS]


if __name__ == "__main__":
    print("\n".join(oldest()))
