"""The sample sweep: invented models over invented scenarios, in the benchmark's own tree.

`sweep.tar.xz` holds 12 models with 24 scenarios of 3 runs each, half of them English and half
Korean, the agent cards, and for two models the judge's logs and the evaluator's result files.
`tests/sweep` generates it.
"""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath

MODEL_COUNT = 12
ARCHIVE = Path(__file__).with_name("sweep.tar.xz")
_PACKAGE = Path(__file__).parents[1]


def write_sweep(directory: Path, *, models: int = MODEL_COUNT) -> None:
    """Write `results/` and `agent_cards/` into a directory, with the first of the models."""
    written: set[str] = set()
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            tree, model, *_ = PurePosixPath(member.name).parts
            if tree == "results":
                written.add(model)
            if len(written) > models:
                break  # the archive holds one model after another
            content = archive.extractfile(member)
            assert content is not None  # it holds files only
            path = directory / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())


def write_notebooks(directory: Path) -> None:
    """Copy the notebooks into a directory: from the installed package, or a checkout beside it."""
    installed = _PACKAGE / "notebooks"
    source = installed if installed.is_dir() else _PACKAGE.parent / "notebooks"
    directory.mkdir(parents=True, exist_ok=True)
    for path in source.glob("*.py"):
        (directory / path.name).write_bytes(path.read_bytes())
