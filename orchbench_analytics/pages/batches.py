"""Models read a few at a time: their tables together, since a file may hold a thousand models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import polars as pl

from orchbench_analytics.pages.source import Source
from orchbench_analytics.store.manifest import Part
from orchbench_analytics.views.catalog import frame_of, quoted

_MODEL = ("model", "experiment")
# So many steps are read at once: many small models, or one large one.
_STEPS = 6_000
_WITHOUT_PROFILE = ("steps", "plans", "judgements")
_WITH_PROFILE = (
    "scored_steps", "scored_plans", "scored_arguments", "plan_edits", "plan_matches",
)  # fmt: skip
_FILES = """
select
    profile, model, experiment, language, scenario, scenario_score, decision_accuracy,
    file_call_f1, means.plan_similarity, scores.run_count, scores.call_label_count,
    scores.rejection_label_count, scores.plan_count, scores.failed_generation_count,
    scores.failed_plan_count
from main.scenario_means as means
inner join main.scenario_scores as scores using (profile, model, experiment, language, scenario)
"""

Model = tuple[str, str]
Rows = dict[str, pl.DataFrame]


def step_count(source: Source) -> int:
    """How many steps the models of a source have."""
    return sum(_step_count(parts) for parts in _parts_of(source).values())


def batches(source: Source) -> Iterator[Source]:
    """The source in batches of models, each with their parts and the scores that hold them."""
    parts = _parts_of(source)
    batch: list[Model] = []
    for model in source.models:
        if batch and sum(_step_count(parts[one]) for one in (*batch, model)) > _STEPS:
            yield _source_of(source, batch, parts)
            batch = []
        batch.append(model)
    yield _source_of(source, batch, parts)


def _parts_of(source: Source) -> dict[Model, list[Part]]:
    parts: dict[Model, list[Part]] = {model: [] for model in source.models}
    for part in source.manifest.parts:
        if (part.model, part.experiment) in parts:
            parts[part.model, part.experiment].append(part)
    return parts


def _step_count(parts: Sequence[Part]) -> int:
    return sum(part.row_counts.get("steps", 0) for part in parts)


def _source_of(source: Source, models: list[Model], parts: Mapping[Model, list[Part]]) -> Source:
    own = [part for model in models for part in parts[model]]
    ids = {part.part_id for part in own}
    scores = [group for group in source.manifest.scores if not ids.isdisjoint(group.part_ids)]
    manifest = msgspec.structs.replace(
        source.manifest, parts=own, scores=scores, gathered=None, unreferenced={}
    )
    return source._replace(manifest=manifest, models=models)


def read_models(source: Source) -> Iterator[Rows]:
    """The tables of each model of a batch, without its name."""
    tables = _tables(source)
    parts = {name: rows.partition_by(_MODEL, as_dict=True) for name, rows in tables.items()}
    for model in source.models:
        yield {
            name: parts[name].get(model, rows.clear()).drop(_MODEL) for name, rows in tables.items()
        }


def _tables(source: Source) -> Rows:
    """Every table of the batch in a fixed order, and its scored files as `files`."""
    of_models = f"model in ({_listed([model for model, _ in source.models])})"
    of_profiles = f"{of_models} and profile in ({_listed(list(source.profiles))})"
    queries = {
        **{name: f"from main.{name} where {of_models}" for name in _WITHOUT_PROFILE},
        **{name: f"from main.{name} where {of_profiles}" for name in _WITH_PROFILE},
        "files": f"{_FILES} where {of_profiles}",
    }
    with source.connect(*_WITHOUT_PROFILE, *_WITH_PROFILE, "scenario_means") as connection:
        return {
            name: frame_of(connection.sql(f"{query} order by all"))
            for name, query in queries.items()
        }


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))
