"""The values of one scenario, and the texts and results they fill."""

import datetime as dt
import random
from collections.abc import Collection, Iterator

from orchbench_analytics.demo.values import Day, Term, Value, Word
from orchbench_analytics.demo.world import World

EPOCH = dt.date(2031, 1, 6)


class Draw:
    """The values of one scenario: a slot's first value is the same wherever it is named."""

    def __init__(self, rng: random.Random, here: World) -> None:
        self.today = EPOCH + dt.timedelta(days=rng.randrange(1200))
        self._rng = rng
        self._here = here
        self._sources: dict[str, Iterator[Value]] = {}
        self._drawn: dict[str, list[Value]] = {}

    def value(self, name: str, nth: int = 0) -> Value:
        """The nth value of a slot, drawn when first asked for."""
        drawn = self._drawn.setdefault(name, [])
        if name not in self._sources:
            slot = self._here.slots[name]
            self._sources[name] = slot.values(self._rng, self._here.language, self.today)
        while len(drawn) <= nth:
            drawn.append(next(self._sources[name]))
        return drawn[nth]

    def text(self, template: str, *, nth: int = 0, varying: Collection[str] = ()) -> str:
        """Fill a text; the slots that vary take their nth value, all others their first."""
        return template.format_map(_Nth(self, nth, varying))

    def fill(
        self,
        template: object,
        *,
        nth: int = 0,
        varying: Collection[str] = (),
        row_varying: Collection[str] = (),
    ) -> object:
        """Fill a nested value; the text `$name` stands for the slot's typed value."""
        match template:
            case {"rows": int(size), "each": row}:
                start = nth * size
                return [self.fill(row, nth=start + i, varying=row_varying) for i in range(size)]
            case str() if template.startswith("$"):
                name = template[1:]
                value = self.value(name, nth if name in varying else 0)
                return str(value) if isinstance(value, Word | Day | Term) else value
            case str():
                return self.text(template, nth=nth, varying=varying)
            case dict():
                return {
                    key: self.fill(inner, nth=nth, varying=varying, row_varying=row_varying)
                    for key, inner in template.items()
                }
            case list():
                return [self.fill(inner, nth=nth, varying=varying) for inner in template]
            case _:
                return template


class _Nth(dict[str, object]):
    """What a text's gaps look into."""

    def __init__(self, draw: Draw, nth: int, varying: Collection[str]) -> None:
        super().__init__()
        self._draw, self._nth, self._varying = draw, nth, varying

    def __missing__(self, name: str) -> object:
        return self._draw.value(name, self._nth if name in self._varying else 0)
