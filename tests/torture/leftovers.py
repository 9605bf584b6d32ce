"""What a killed command leaves behind, which the next one has to clear."""

import re
from pathlib import Path

_STAGED = re.compile(r"manifest\.json\.[0-9a-f]{32}")


def leftovers(warehouse: Path) -> set[str]:
    """The names of unfinished files in a warehouse, and of temporary directories beside it."""
    found = {path.name for path in warehouse.glob("staging/*")}
    found |= {path.name for path in warehouse.iterdir() if _STAGED.fullmatch(path.name)}
    return found | {path.name for path in warehouse.parent.glob(".orchbench-*.part")}
