"""The documents of a sweep, and what their labels ask for."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

MARKERS = ("AWAITING_USER_INPUT", "TOOL_CONSTRAINT_VIOLATION")
Document = dict[str, Any]


def documents(
    sweep: Path, model: str = "*", language: str = "*", experiment: str = "*"
) -> Iterator[Document]:
    pattern = f"results/{model}/{experiment}/step_wise_evaluation_{language}/*/*_out.json"
    for path in sorted(sweep.glob(pattern)):
        yield read(path)


@cache
def read(path: Path) -> Document:
    return json.loads(path.read_bytes())


def sub_agent_labels(run: Document) -> Iterator[tuple[str, Document, Document]]:
    """Each labelled sub-agent step with its own entry and the one that holds its calls."""
    for step, entry in run["label"].items():
        if "-" not in step and "agent_id" in entry:
            yield step, entry, run["label"].get(f"{step}-1", entry)
