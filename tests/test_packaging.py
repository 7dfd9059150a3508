"""The wheel and the sdist hold what users need and nothing else, and the installed copy works."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import numpy
import pytest

import svmpath
from tests.oldest import oldest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
JUNK = re.compile(
    r"__pycache__|\.py[co]$|\.nb[ic]$|\.egg-info|(^|/)(demo|dist|_build|generated|\.venv[^/]*|\.fuzz|out)/"
)

SMOKE = """
import sys
import svmpath
from svmpath.datasets import twonorm
assert svmpath.__file__.startswith(sys.prefix), svmpath.__file__
X, y = twonorm(80, 0)
model = svmpath.PathSVC().fit(X[:40], y[:40])
assert model.score(X[40:], y[40:]) > 0.8
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist, as ``python -m build`` makes them."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_sdist_has_tests_and_no_junk(built):
    with tarfile.open(built[1]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"tests/test_packaging.py", "tests/cli/test_tune.py", "docs/design.md", "benchmarks/RESULTS.md"} <= names
    assert {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "Makefile", "pyproject.toml"} <= names
    assert not [name for name in names if JUNK.search(name)]


@pytest.mark.slow
def test_the_wheel_has_the_package_only(built):
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
        (metadata,) = [archive.read(name).decode() for name in names if name.endswith("METADATA")]
    source = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    report = ROOT / "src/svmpath/report"
    page = {
        path.relative_to(ROOT / "src").as_posix()
        for kind in ("assets", "templates")
        for path in (report / kind).iterdir()
    }
    assert len(page) > 2
    assert {name for name in names if ".dist-info/" not in name} == source | {"svmpath/py.typed"} | page
    assert f"Version: {svmpath.__version__}\n" in metadata
    assert (ROOT / "README.md").read_text(encoding="utf-8").strip() in metadata  # the long description


@pytest.mark.slow
def test_the_installed_wheel_works(built, tmp_path):
    """In an environment of its own, which sees the packages of this one but not its svmpath."""
    home = tmp_path / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # The packages svmpath needs are those of this environment: their folder is appended to the path. An editable
    # install is not seen there, because the .pth files of such a folder are not read.
    (site / "dependencies.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n")
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", built[0])
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    run(python, "-c", SMOKE, cwd=tmp_path, env=clean)
    rows = "".join(f"{i},{i * i % 7},{'uv'[i % 2]}\n" for i in range(12))
    (tmp_path / "data.csv").write_text("a,b,y\n" + rows)
    assert run(scripts / "svmpath", "--version", cwd=tmp_path, env=clean) == f"svmpath {svmpath.__version__}\n"
    tuned = run(scripts / "svmpath", "tune", "data.csv", "--target", "y", "--C", "1", cwd=tmp_path, env=clean)
    assert "Wrote model.skops, summary.json, config.toml and report.html." in tuned
    assert (tmp_path / "model.skops").exists()
    assert (tmp_path / "report.html").exists()


def test_displays_are_tested_with_the_extra_that_they_need():
    extras = PROJECT["optional-dependencies"]
    assert set(extras["plot"]) <= set(extras["dev"])


def test_every_lower_bound_is_pinned_by_make_oldest():
    needed = {re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]}
    assert needed <= {pin.split("==")[0] for pin in oldest()}
    assert "numpy==2.0.*" in oldest()


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_oldest_finds_the_package_from_any_folder():
    commands = run("make", "-n", "oldest", cwd=ROOT)
    assert f'PYTHONPATH="{ROOT}/src"' in commands
    assert f'NUMBA_CACHE_DIR="{ROOT}/' in commands


def test_the_citation_names_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {svmpath.__version__}\n" in text
    assert len(re.findall(r"^  - type: ", text, re.MULTILINE)) == 5
