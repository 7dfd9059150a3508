"""A small table as people have them: columns of all kinds, and gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["flats"]

_TOWNS = {"Bonn": 500.0, "Kiel": 0.0, "Ulm": 250.0}
_CONDITIONS = {"new": 300.0, "renovated": 150.0, "as it is": 0.0}
_GAPS = 0.06  # of the cells of three columns


def flats(n: int, random_state: int | np.random.Generator | None = None) -> pd.DataFrame:
    """Draw a table of flats for sale: numbers, words, truth values, dates, an identifier and missing values.

    The price follows from area, town, condition and lift, with noise; ``sold`` says whether the flat was sold quickly,
    which small and new ones are, and those that cost less than they are worth. The identifier ``id``, the constant
    column ``currency`` and most of the date say nothing.

    Parameters
    ----------
    n : int
        Number of rows.
    random_state : int, numpy.random.Generator or None
        Seed of the draw.

    Returns
    -------
    DataFrame with n rows and 10 columns

    See Also
    --------
    svmpath.datasets.banana : Two crescents.
    svmpath.datasets.read_table : Read a data file.

    Examples
    --------
    >>> from svmpath.datasets import flats
    >>> table = flats(100, random_state=0)
    >>> list(table.columns)
    ['id', 'listed', 'area', 'rooms', 'town', 'condition', 'lift', 'currency', 'price', 'sold']
    >>> bool(table["area"].isna().any())
    True
    """
    import pandas as pd

    rng = np.random.default_rng(random_state)
    area = rng.gamma(6.0, 12.0, n).round(1) + 18.0
    rooms = np.clip((area / 25.0 + rng.normal(0.0, 0.6, n)).round(), 1, None)
    town, condition = rng.choice(list(_TOWNS), n), rng.choice(list(_CONDITIONS), n, p=[0.2, 0.3, 0.5])
    lift = rng.random(n) < 0.4
    worth = (
        30.0 * area + np.array([_TOWNS[each] for each in town]) + np.array([_CONDITIONS[each] for each in condition])
    )
    price = (worth + 120.0 * lift + rng.normal(0.0, 120.0, n)).round(-1)
    cheap = (worth + 120.0 * lift - price) / 120.0
    wanted = 1.5 * (condition == "new") + lift - (area - 80.0) / 40.0 - 0.5
    is_quick = 0.4 * cheap + wanted + rng.logistic(0.0, 0.2, n) > 0.0
    table = pd.DataFrame(
        {
            "id": [f"F{number:05d}" for number in rng.permutation(n) + 1],
            "listed": (np.datetime64("2024-01-01") + rng.integers(0, 366, n)).astype(str),
            "area": area,
            "rooms": rooms,
            "town": town,
            "condition": condition,
            "lift": np.where(lift, "yes", "no"),
            "currency": "EUR",
            "price": price,
            "sold": np.where(is_quick, "quick", "slow"),
        }
    )
    for name in ("area", "rooms", "condition"):
        table[name] = table[name].where(rng.random(n) >= _GAPS)
    return table
