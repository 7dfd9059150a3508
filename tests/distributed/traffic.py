"""What moves between the workers of a cluster, by Dask's own counters."""

import numpy as np

import svmpath
from tests.distributed.chunks import cut, moons


def moved(client):
    """Bytes that workers have sent to each other so far."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def bytes_per_step(client, chunks, rank):
    """Bytes that move between workers in one Newton step, on average along a path of chunks of 600 rows."""
    sizes = (600,) * chunks
    X, y = moons(n=sum(sizes))
    path = svmpath.trace(cut(X, sizes), cut(y, sizes), gamma=0.4, rank=rank, span=(1e-3, 1e3), random_state=0)
    path(1e-3)
    before, steps = moved(client), path.passes["newton-step"]
    for C in np.geomspace(1e-2, 1e3, 5):
        path(float(C))
    return (moved(client) - before) / (path.passes["newton-step"] - steps)
