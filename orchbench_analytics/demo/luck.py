"""Chance, the same every time it is asked with the same seed."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Luck:
    """The luck of a model at one step; pressure above 1 makes every mishap likelier."""

    def __init__(self, rng: random.Random, *, pressure: float = 1.0) -> None:
        self.rng = rng
        self._pressure = pressure

    def strikes(self, rate: float) -> bool:
        """Whether a mishap of this rate happens; never at 0, always at 1."""
        survival: float = (1 - min(rate, 1.0)) ** self._pressure
        return self.rng.random() >= survival

    def pick(self, options: Sequence[T]) -> T:
        """One of some options."""
        return options[int(self.rng.random() * len(options))]
