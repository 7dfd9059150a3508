"""Features are held where there is room, and nothing of them is left running."""

import pytest

import svmpath
from svmpath.distributed import cluster
from tests.distributed.chunks import cut, moons

SIZES = (200, 200, 280)


def test_features_that_are_interrupted_are_released(monkeypatch):
    X, y = moons()
    begun, ended = [], []

    def hold(tasks):
        begun.extend(tasks)
        return list(tasks)

    def interrupted(tasks):
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster, "hold", hold)
    monkeypatch.setattr(cluster, "places_of", interrupted)
    monkeypatch.setattr(cluster, "release", ended.extend)
    with pytest.raises(KeyboardInterrupt):
        svmpath.trace(cut(X, SIZES), cut(y, SIZES), gamma=0.4, rank=20)
    assert [each.key for each in ended] == [each.key for each in begun]
    assert len(begun) == 3
