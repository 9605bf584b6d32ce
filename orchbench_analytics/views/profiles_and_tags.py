"""Two tables that hold no rows of documents: the profiles that were scored, and model tags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchbench_analytics.profiles import WEIGHTS, rule_choices
from orchbench_analytics.rules import RULES
from orchbench_analytics.schema import DUCKDB_TYPES, Column, Table
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.parquet import scan_files
from orchbench_analytics.tables import MODEL_KEY, PROFILE_NAME
from orchbench_analytics.views.sql_text import no_rows, quoted

PROFILES = Table(
    "profiles",
    "profile that the warehouse was scored under",
    (
        PROFILE_NAME,
        *(Column(rule, "text", RULES[rule].sentence) for rule in rule_choices()),
        *(Column(rule, "float", RULES[rule].sentence) for rule in WEIGHTS),
    ),
)
# The tags themselves are further columns, which each warehouse has its own of.
MODEL_TAGS = Table(
    "model_tags", "model and experiment, with a column for each tag that was given", MODEL_KEY[:2]
)
PROFILES_AND_TAGS = (PROFILES, MODEL_TAGS)


def profiles_query(manifest: Manifest) -> str:
    """The rules of every profile that was scored, as rows, so that views can go by them."""
    types = {column.name: DUCKDB_TYPES[column.kind] for column in PROFILES.columns}
    rows = (
        ", ".join(f"cast({quoted(str(rules[name]))} as {type_})" for name, type_ in types.items())
        for profile, chosen in manifest.profiles.items()
        for rules in [{**chosen, "profile": profile}]
    )
    return " union all ".join([no_rows(PROFILES), *(f"select {row}" for row in rows)])


def tags_query(rows: str | None, names: Sequence[str]) -> str:
    """Every model and experiment with its tags; those of the model where it has none of its own."""
    query = "select distinct model, experiment from main.scenario_scores"
    if rows is None:
        return query
    tags = "".join(f', coalesce(own."{name}", general."{name}") as "{name}"' for name in names)
    return f"""
        select known.model, known.experiment{tags}
        from ({query}) as known
        left join {rows} as own
            on known.model = own.model and known.experiment = own.experiment
        left join {rows} as general
            on known.model = general.model and general.experiment is null
    """


def tag_names(files: list[Path]) -> list[str]:
    """The tags that the file of tags has; none where there is no such file."""
    found = scan_files(files).collect_schema().names() if files else []
    return [name for name in found if name not in ("model", "experiment")]
