"""BoundaryDisplay and its animation: the mesh, the rings and the frames are those of the machines."""

import numpy as np
import pytest
from PIL import Image
from scipy import sparse
from sklearn.preprocessing import StandardScaler

import svmpath
from svmpath import ElasticNetSVC, PathSVC, PathSVR
from svmpath.displays import BoundaryDisplay
from tests.displays.machines import PATHS, REGRESSION, data, path
from tests.speed import first_quick


def middle(p):
    return float(np.mean(p.span))


@first_quick(2)
@pytest.mark.parametrize("name", [name for name in PATHS if name not in REGRESSION])
def test_the_machine_is_drawn(name):
    p, (X, y) = path(name), data()
    machine = p(middle(p))
    display = BoundaryDisplay.from_path(p, middle(p), grid_resolution=12)
    xx, yy, f = display.mesh_
    np.testing.assert_allclose(f.ravel(), machine(np.column_stack([xx.ravel(), yy.ravel()])))
    assert xx.min() < X[:, 0].min() < X[:, 0].max() < xx.max()
    assert yy.min() < X[:, 1].min() < X[:, 1].max() < yy.max()
    np.testing.assert_array_equal(display.support_.get_offsets(), X[machine.support])
    for points, label in zip(display.points_, ("no", "yes"), strict=True):
        np.testing.assert_array_equal(points.get_offsets(), X[y == label])
        assert points.get_label() == label
    assert list(display.contours_.levels) == [-1.0, 0.0, 1.0]
    table = display.table()
    np.testing.assert_allclose(table["decision"], machine.fitted)
    np.testing.assert_array_equal(np.flatnonzero(table["support"]), machine.support)
    np.testing.assert_array_equal(table["label"], y)


def test_the_boundary_is_where_decisions_are_zero():
    p = path("hinge")
    display = BoundaryDisplay.from_path(p, 5.0)
    machine = p(5.0)
    for level, lines in zip(display.contours_.levels, display.contours_.allsegs, strict=True):
        found = np.vstack(lines)
        assert np.abs(machine(found) - level).max() < 0.05  # linear between the points of the mesh


def test_the_units_are_those_of_the_data():
    X, y = data()
    X = X * [1.0, 20.0] + [5.0, 100.0]
    model = PathSVC(gamma=1.0, C=[0.1, 1.0], scale=True).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, grid_resolution=9)
    assert display.value == model.C_
    xx, yy, f = display.mesh_
    np.testing.assert_allclose(f.ravel(), model.decision_function(np.column_stack([xx.ravel(), yy.ravel()])))
    np.testing.assert_allclose(display.support_.get_offsets(), model.support_vectors_)
    again = BoundaryDisplay.from_path(model.path_, model.C_, scaler=StandardScaler().fit(X), grid_resolution=9)
    np.testing.assert_allclose(again.mesh_[2], f, atol=1e-9)


@pytest.mark.slow
def test_other_values_and_estimators():
    import pandas as pd

    X, y = data()
    frame = pd.DataFrame(X, columns=["$dose$", "<i>"])
    model = PathSVC(loss="hinge", gamma=1.0, C=[0.1, 1.0, 10.0]).fit(frame, y)
    display = BoundaryDisplay.from_estimator(model, 0.7, grid_resolution=5)
    assert len(display.support_.get_offsets()) == len(model.path_(0.7).support)
    assert "C = 0.7" in display.ax_.get_title()
    assert display.ax_.get_xlabel() == r"\$dose\$"
    display.figure_.canvas.draw()
    model = ElasticNetSVC(lambda2=1.0, cv=3).fit(sparse.csr_matrix(X), y)
    f = BoundaryDisplay.from_estimator(model, grid_resolution=5).mesh_
    np.testing.assert_allclose(f[2].ravel(), model.decision_function(np.column_stack([f[0].ravel(), f[1].ravel()])))
    several = PathSVC(gamma=1.0, C=1.0).fit(X, np.where(X[:, 1] > 1, "c", y))
    display = BoundaryDisplay.from_estimator(several, grid_resolution=5)
    assert [points.get_label() for points in display.points_] == ["the rest", "c"]
    assert len(display.points_[1].get_offsets()) == np.count_nonzero(X[:, 1] > 1)


def test_one_sided_machines():
    """All decision values of one sign: no boundary is in sight."""
    X, _ = data()
    y = np.where(np.arange(40) < 2, "a", "b")
    p = svmpath.trace(X, y, loss="hinge", span=(1e-3, 1e-2), gamma=1.0)
    display = BoundaryDisplay.from_path(p, grid_resolution=8)
    assert (display.mesh_[2] > 0).all()
    assert display.value == pytest.approx(np.sqrt(1e-3 * 1e-2))
    display.figure_.canvas.draw()


def test_what_boundaries_refuse():
    X, y = data()
    with pytest.raises(ValueError, match="needs classes, but this is a regression, which has no boundary"):
        BoundaryDisplay.from_estimator(PathSVR(C=1.0, gamma=1.0).fit(X, X[:, 0]))
    wide = svmpath.trace(np.hstack([X, X]), y, loss="least_squares", span=(0.1, 1.0))
    with pytest.raises(ValueError, match="needs two features, but the rows have 4"):
        BoundaryDisplay.from_path(wide)
    kernel = svmpath.trace(X @ X.T + 1, y, loss="least_squares", kernel="precomputed", span=(0.1, 1.0))
    with pytest.raises(ValueError, match="a precomputed kernel has kernel values only"):
        BoundaryDisplay.from_path(kernel)
    with pytest.raises(ValueError, match="names of the two features, got 3"):
        BoundaryDisplay.from_path(path("hinge"), names=["a", "b", "c"])
    with pytest.raises(ValueError, match="outside the span"):
        BoundaryDisplay.from_path(path("hinge"), 1e9)


# --- animation -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_frames_along_the_path(tmp_path, monkeypatch):
    from matplotlib import pyplot

    display = BoundaryDisplay.from_path(path("hinge/down"), grid_resolution=8)
    figures, seen = len(pyplot.get_fignums()), []
    moved = BoundaryDisplay.moved
    monkeypatch.setattr(BoundaryDisplay, "moved", lambda self, value: seen.append(value) or moved(self, value))
    file = tmp_path / "path.gif"
    assert display.animate(file, frames=4, dpi=40) == str(file)
    np.testing.assert_allclose(seen, [100.0, 10.0, 1.0, 0.1])  # in the direction of the path
    with Image.open(file) as gif:
        assert gif.n_frames == 4
    assert len(pyplot.get_fignums()) == figures
    seen.clear()
    display.animate(str(file), [0.5, 2.0], dpi=40)
    assert seen == [0.5, 2.0]


def test_what_an_animation_refuses(tmp_path, monkeypatch):
    from matplotlib.animation import writers

    display = BoundaryDisplay.from_path(path("hinge"), grid_resolution=8)
    with pytest.raises(ValueError, match=r"ends in .gif or .mp4, not to 'path.avi'"):
        display.animate("path.avi")
    monkeypatch.setattr(type(writers), "is_available", lambda self, name: name != "ffmpeg")
    with pytest.raises(RuntimeError, match=r"An .mp4 needs the program ffmpeg, which was not found: install it, or"):
        display.animate(tmp_path / "path.mp4")
    with pytest.raises(ValueError, match="frames must be"):
        display.animate(tmp_path / "path.gif", frames=0)
    with pytest.raises(ValueError, match="outside the span"):
        display.animate(tmp_path / "path.gif", [1e9])
    assert not list(tmp_path.iterdir())
