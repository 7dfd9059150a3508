"""Everything the library raises or warns beyond Python's own ``ValueError`` and ``TypeError``."""


class PathError(RuntimeError):
    """A path is not optimal where it should be, or could not be followed.

    See Also
    --------
    svmpath.PrecisionWarning : Digits were lost.
    svmpath.exceptions.NoMarginError : No machine below some nu.
    """


class NoMarginError(PathError):
    """The nu machine has no margin: nu is too small for classes that overlap.

    See Also
    --------
    svmpath.PathError : A path that cannot be certified.
    """


class DataError(ValueError):
    """A data file or its contents cannot be used; the message says what to do about it."""


class PrecisionWarning(UserWarning):
    """Numbers that a choice rests on are lost to rounding.

    See Also
    --------
    svmpath.PathError : A path that cannot be certified.
    """


class IndefiniteKernelWarning(UserWarning):
    """A kernel matrix has negative eigenvalues: the machine's problem is not convex.

    See Also
    --------
    svmpath.kernels.Kernel : What all kernels have in common.
    svmpath.trace : Follow a machine over one hyper-parameter.
    """


class LimitWarning(UserWarning):
    """A path or a search ends early, as it was given a limit of events or of time.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.PathSVC : Classifier that chooses C and gamma.
    """


class EdgeWarning(UserWarning):
    """The best value lies at the end of the range that was searched, where the score still falls.

    See Also
    --------
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.search.Choice : What ``svmpath.select`` returns.
    """


class WeakModelWarning(UserWarning):
    """Held out, a class is mostly missed, or the error is not clearly below that of always predicting one class.

    See Also
    --------
    svmpath.PathSVC.held_out_recall : What part of each class is found.
    svmpath.criteria.recall.Recall : When a caution is due.
    """


class ChunkWarning(UserWarning):
    """A chunk of a Dask collection is empty, or has a label that no other chunk has."""
