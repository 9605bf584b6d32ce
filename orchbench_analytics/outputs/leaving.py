"""What a request to remove something means in a warehouse."""

from __future__ import annotations

from collections.abc import Sequence

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.outputs.filter_rows import matching_names
from orchbench_analytics.profiles import BUILT_IN
from orchbench_analytics.store.manifest import Manifest


def models_of(
    manifest: Manifest, models: Sequence[str], experiments: Sequence[str]
) -> list[tuple[str, str]]:
    """The models and experiments that fit both patterns; a pattern that fits none is an error."""
    there = sorted({(part.model, part.experiment) for part in manifest.parts})
    for place, (kind, patterns) in enumerate((("model", models), ("experiment", experiments))):
        if patterns:
            known = sorted({pair[place] for pair in there})
            fitting = {name for given in patterns for name in matching_names(given, known, kind)}
            there = [pair for pair in there if pair[place] in fitting]
    return there


def profiles_of(manifest: Manifest, names: Sequence[str]) -> list[str]:
    """The profiles of those names; built-in ones would come back with the next ingest."""
    known = sorted(manifest.profiles)
    for name in names:
        if name in BUILT_IN:
            raise SelectionError(f"{name} is built in: every ingest scores under it")
        if name not in known:
            raise SelectionError(f"no profile {name!r} here; there are {', '.join(known)}")
    return list(names)
