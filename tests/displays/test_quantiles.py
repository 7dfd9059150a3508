"""QuantileDisplay: what is drawn are the predicted quantiles, and the shares below them."""

import numpy as np
import pandas as pd
import pytest

from svmpath import PathSVC, PathSVR
from svmpath.displays import QuantileDisplay

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 6, size=(90, 1))
Y = np.sin(X[:, 0]) + 0.1 * X[:, 0] * RNG.normal(size=90)
MODEL = PathSVR(loss="pinball", gamma=0.5, C=3.0)


def test_a_fan_over_one_column():
    frame = pd.DataFrame(X, columns=["hours"])
    model = PathSVR(loss="pinball", gamma=0.5, C=3.0).fit(frame, Y)
    display = QuantileDisplay.from_estimator(model, frame, Y, quantiles=[0.9, 0.1, 0.5])
    assert display.ax_.get_xlabel() == "hours"
    assert len(display.bands_) == 1
    rows = pd.DataFrame(display.nodes[:, None], columns=["hours"])
    np.testing.assert_allclose(display.bands, model.predict_quantiles(rows, [0.1, 0.5, 0.9]))
    np.testing.assert_allclose(display.line_.get_ydata(), display.bands[:, 1])
    np.testing.assert_array_equal(display.points_.get_offsets(), np.column_stack([X[:, 0], Y]))
    f = model.predict_quantiles(frame, [0.1, 0.5, 0.9])
    at = np.abs(Y[:, None] - f) < 1e-9  # where rounding decides which side a target on the elbow is on
    assert np.all(np.abs(display.shares - np.mean(Y[:, None] < f, axis=0)) <= at.mean(axis=0))


def test_shares_of_several_columns():
    rows = np.column_stack([X, RNG.normal(size=90)])
    s = RNG.uniform(size=90)
    model = PathSVR(loss="pinball", gamma=0.5, C=3.0, quantile=[0.2, 0.8]).fit(rows[:60], Y[:60])
    display = QuantileDisplay.from_estimator(model, rows[60:], Y[60:], sample_weight=s[60:])
    expected = np.average(Y[60:, None] < model.predict(rows[60:]), axis=0, weights=s[60:])
    np.testing.assert_allclose(display.shares, expected)
    np.testing.assert_allclose(display.line_.get_ydata(), expected)
    assert display.table()["quantile"].tolist() == [0.2, 0.8]
    assert display.table()["rows"].tolist() == [30, 30]
    assert display.bands_ == []
    one = QuantileDisplay.from_estimator(MODEL.fit(X, Y), X, Y, kind="calibration", quantiles=[0.5])
    assert one.bands is None


def test_what_is_refused():
    model = PathSVR(loss="pinball", gamma=0.5, C=3.0).fit(X, Y)
    with pytest.raises(ValueError, match="kind must be 'auto', 'fan' or 'calibration', got 'pie'"):
        QuantileDisplay.from_estimator(model, X, Y, kind="pie")
    two = PathSVR(loss="pinball", gamma=0.5, C=3.0).fit(np.hstack([X, X]), Y)
    with pytest.raises(ValueError, match="kind='fan' needs X with one column"):
        QuantileDisplay.from_estimator(two, np.hstack([X, X]), Y, kind="fan")
    with pytest.raises(TypeError, match="needs a regressor with predict_quantiles"):
        QuantileDisplay.from_estimator(PathSVC(C=1.0, gamma=1.0).fit(X, Y > 0), X, Y)
    with pytest.raises(ValueError, match="has no quantiles: use loss='pinball'"):
        QuantileDisplay.from_estimator(PathSVR(C=1.0, gamma=1.0).fit(X, Y), X, Y)
