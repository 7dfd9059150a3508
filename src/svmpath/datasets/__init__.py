"""Data sets: generators of the papers' synthetic sets, and readers of csv, tsv, parquet, arff, libsvm and npz files.

A reader never guesses in silence: a :class:`Table` says what each column was read as. Whatever it cannot use is
refused with a :class:`~svmpath.exceptions.DataError`, one sentence that names the file, the column and the data row
(the first is 1, a header is not counted).
"""

from svmpath.datasets.columns import Column
from svmpath.datasets.flats import flats
from svmpath.datasets.generators import banana, gaussian_mixture, ringnorm, twonorm, waveform
from svmpath.datasets.readers import read_new_rows, read_table
from svmpath.datasets.tables import NewRows, Table
from svmpath.datasets.target import infer_task, prepare_target

__all__ = [
    "Column",
    "NewRows",
    "Table",
    "banana",
    "flats",
    "gaussian_mixture",
    "infer_task",
    "prepare_target",
    "read_new_rows",
    "read_table",
    "ringnorm",
    "twonorm",
    "waveform",
]
