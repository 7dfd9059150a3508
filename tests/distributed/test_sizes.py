"""Schedulers are told how large things are, or they would move chunks as if they were nothing."""

import sys

import numpy as np
from dask.sizeof import sizeof

from svmpath.distributed.blocks import Block, Evaluation, Moments, Recipe
from svmpath.distributed.leave_one_out import Machine, SpanRule
from svmpath.gram.fourier import FourierFeatures
from svmpath.losses import SquaredHinge


def test_arrays_count():
    Z = np.zeros((1000, 50), dtype=np.float32)
    block = Block(Z, np.zeros(1000), np.zeros(1000), np.zeros(1000, np.uint64), None, 0.0, 0.0)
    assert Z.nbytes + 24_000 <= sizeof(block) <= Z.nbytes + 25_000  # target, weight and key of each row
    G = np.zeros((51, 51))
    for each in (Evaluation(0.0, np.zeros(51), 1, 0.0, 0.0, G), Moments(G, G[:, :1], G[0], 0.0, 0.0, 0.0)):
        assert G.nbytes <= sizeof([each]) <= G.nbytes + 2000
    assert sizeof(Recipe(FourierFeatures(G), G[0], np.float64, None, G[0])) >= G[0].nbytes
    machine = Machine(G[0], G, None)
    assert sys.getsizeof(SpanRule([machine, machine], SquaredHinge().pieces)) >= 2 * G.nbytes
