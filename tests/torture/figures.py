"""What a campaign counts, and how long it may go on."""

import sys
import time
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Campaign:
    """One of several: how often it is to try, until when, what came of it, and what failed."""

    name: str
    wanted: int
    deadline: float
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    done: int = 0

    @property
    def goes_on(self) -> bool:
        return self.done < self.wanted and time.monotonic() < self.deadline

    def note(self) -> None:
        print(f"{self.name}: {self.done:,} tried, {dict(self.counts)}", file=sys.stderr, flush=True)

    def fail(self, text: str) -> None:
        self.failures.append(text)
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)

    def rows(self) -> list[tuple[str, str, str]]:
        rows = [(self.name, "tried", f"{self.done:,} of {self.wanted:,}")]
        rows += [(self.name, what, f"{number:,}") for what, number in sorted(self.counts.items())]
        return [*rows, (self.name, "failures", f"{len(self.failures):,}")]
