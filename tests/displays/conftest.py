"""Figures are drawn without a screen, and closed."""

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    from matplotlib import pyplot

    yield
    pyplot.close("all")
