"""The number that stands for infinity in the compiled loops."""

from __future__ import annotations

INFINITE = 1e300  # the length of a step that nothing ends: arithmetic with it stays finite, as fastmath wants
