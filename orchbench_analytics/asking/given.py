"""What callers give where several are expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def several(given: Any) -> list[Any]:
    """All that was given; a single text or path is one, not a sequence of letters."""
    return [given] if isinstance(given, str | Path) else [*given]
