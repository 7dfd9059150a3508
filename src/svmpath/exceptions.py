"""Everything the library raises or warns beyond Python's own ``ValueError`` and ``TypeError``."""


class PathError(RuntimeError):
    """A path is not optimal where it should be, or could not be followed."""


class NoMarginError(PathError):
    """The nu machine has no margin: nu is too small for classes that overlap."""


class DataError(ValueError):
    """A data file or its contents cannot be used; the message says what to do about it."""


class PrecisionWarning(UserWarning):
    """Numbers that a choice rests on are lost to rounding."""


class IndefiniteKernelWarning(UserWarning):
    """A kernel matrix has negative eigenvalues: the machine's problem is not convex."""


class LimitWarning(UserWarning):
    """A path or a search ends early, as it was given a limit of events or of time."""


class EdgeWarning(UserWarning):
    """The best value lies at the end of the range that was searched, where the score still falls."""


class ChunkWarning(UserWarning):
    """A chunk of a Dask collection is empty, or has a label that no other chunk has."""
