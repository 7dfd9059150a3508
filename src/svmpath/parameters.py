"""What a kernel or a loss says about each of its real parameters."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

import numpy as np

Lowest = Literal["positive", "not negative", "any", "fraction"]

# What a user reads where a value is refused, or several are.
_WORDS: dict[Lowest, tuple[str, str]] = {
    "positive": ("a positive number", "positive numbers"),
    "not negative": ("a number >= 0", "numbers >= 0"),
    "any": ("a finite number", "numbers"),
    "fraction": ("a number between 0 and 1", "numbers between 0 and 1"),
}


@dataclass(frozen=True)
class Parameter:
    """A real parameter, the values that it can take, and the scale on which it is searched.

    Parameters
    ----------
    name : str
    lowest : {"positive", "not negative", "any", "fraction"}, default="positive"
        Which finite values make sense; a fraction is more than 0 and less than 1.
    log : bool, default=True
        Whether the parameter is a scale: grids and searches then step in its logarithm.

    See Also
    --------
    svmpath.kernels.Kernel : What all kernels have in common.

    Examples
    --------
    >>> from svmpath.parameters import Parameter
    >>> gamma, shift = Parameter("gamma"), Parameter("coef0", lowest="any", log=False)
    >>> gamma.allows(0.0), shift.allows(-1.0)
    (False, True)
    >>> gamma.numbers
    'positive numbers'
    """

    name: str
    lowest: Lowest = "positive"
    log: bool = True

    def __post_init__(self) -> None:
        if self.lowest not in _WORDS:
            raise ValueError(f"lowest must be one of {', '.join(map(repr, _WORDS))}, got {self.lowest!r}.")
        if self.log and self.lowest == "any":
            raise ValueError(f"Parameter {self.name!r} may be negative, so it has no logarithm; give log=False.")

    def allows(self, value: float) -> bool:
        """Whether the parameter can have this value."""
        if not isfinite(value):
            return False
        if self.lowest == "fraction":
            return 0.0 < value < 1.0
        return self.lowest == "any" or value > 0 or (value == 0 and self.lowest == "not negative")

    @property
    def numbers(self) -> str:
        """What values of the parameter must be, in words."""
        return _WORDS[self.lowest][1]

    def check(self, value: Any, other: str = "") -> float:
        """The value as a float; refused where the parameter cannot have it. ``other`` says what else may be given."""
        try:
            number = float("nan" if isinstance(value, (str, bool, np.bool_)) else value)
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        if not self.allows(number):
            raise ValueError(f"{self.name} must be {_WORDS[self.lowest][0]}{other}, got {value!r}.")
        return number
