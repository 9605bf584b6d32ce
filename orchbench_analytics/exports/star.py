"""The star schema of `sql/star`, with integer keys that stay, and every metric as SQL over it.

The formula of a metric holds for rows of `fact_scenario` of one profile, model and language; a
score over languages is the mean of theirs. It reads the same in DuckDB, SQLite and Postgres. Under
a profile that rounds (`upstream`), a mean within the last bit of a tie may round to the other side,
as it may in the evaluator itself.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import yaml

from orchbench_analytics.errors import OrchbenchError, SelectionError, suggest
from orchbench_analytics.exports.relations import SMALL, Memory, Relation, compute, limit_memory
from orchbench_analytics.metrics import HEADLINE, METRICS, Mean, Ratio
from orchbench_analytics.queries import KINDS, View, described_columns, read_views, sql_directory
from orchbench_analytics.schema import Column, Table
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import all_relations, populate, quoted_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FACT = "fact_scenario"
_GROUPS = ("profile_sk", "model_sk", "dim_scenario.language")


def formula_of(name: str) -> str:
    """The aggregate that gives a metric."""
    formula = METRICS[name].formula
    if isinstance(formula, Mean):
        value = _mean(formula)
    elif averaged := _averaged_column(formula):
        value = f"avg({averaged})"
    else:  # an undefined F1 counts as the profile says, an undefined precision is null
        value = _ratio(formula, is_ruled=name.endswith("_f1"))
    return _rounded(value) if name in HEADLINE else value


def averaged_columns() -> dict[str, str]:
    """The columns of the fact whose mean is a metric, with that metric."""
    columns = {
        _averaged_column(metric.formula): name
        for name, metric in METRICS.items()
        if isinstance(metric.formula, Ratio)
    }
    return {column: name for column, name in columns.items() if column is not None}


def metric_rows() -> list[dict[str, str]]:
    """The rows of the table `metrics`."""
    return [
        {
            "metric": name,
            "label": metric.label,
            "description": metric.description,
            "fact": FACT,
            "formula": formula_of(name),
        }
        for name, metric in METRICS.items()
    ]


def metrics_document() -> str:
    """The metrics as YAML, for the semantic layers of other tools."""
    content = {
        "version": 1,
        "facts": {FACT: {"grain": ["profile_sk", "model_sk", "scenario_sk"]}},
        "group_by": list(_GROUPS),
        "over_languages": "mean of the languages' values",
        "metrics": [_entry(row) for row in metric_rows()],
    }
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=96)
    return text


def _entry(row: Mapping[str, str]) -> dict[str, Any]:
    formula = METRICS[row["metric"]].formula
    members = {"mean_of": list(formula.of)} if isinstance(formula, Mean) else {}
    known = {name: row[name] for name in ("label", "description", "fact")}
    return {"name": row["metric"], **known, **members, "formula": row["formula"]}


def _averaged_column(formula: Ratio) -> str | None:
    """The column of which a formula is the mean, if it is one."""
    (first, *_), (below, *_) = formula.numerator, formula.denominator
    column = first.removesuffix("_sum")
    return column if below == f"{column}_file_count" else None


def _sum(factors: Mapping[str, float]) -> str:
    return " + ".join(
        f"sum({name})" if factor == 1 else f"{factor:g} * sum({name})"
        for name, factor in factors.items()
    )


def _ratio(formula: Ratio, *, is_ruled: bool) -> str:
    """A ratio of sums, and its value if the denominator is 0."""
    above, below = _sum(formula.numerator), _sum(formula.denominator)
    ratio = f"cast({above} as double precision) / nullif({below}, 0)"
    defined = _sum(dict.fromkeys(formula.defined_by, 1))
    otherwise = [f"case when {defined} > 0 then 0.0 end"] if defined else []
    otherwise += ["max(undefined_score)"] if is_ruled else []
    return f"coalesce({', '.join([ratio, *otherwise])})" if otherwise else ratio


def _mean(formula: Mean) -> str:
    members = [formula_of(name) for name in formula.of]
    if formula.needs_all:
        return f"({' + '.join(members)}) / {len(members)}"
    total = " + ".join(f"coalesce({member}, 0)" for member in members)
    defined = " + ".join(f"case when {member} is null then 0 else 1 end" for member in members)
    return f"({total}) / nullif({defined}, 0)"


def _rounded(value: str) -> str:
    """A headline score, rounded as the profile says.

    To add 2^52 to a double and to take it away again leaves a whole number, ties to the even one.
    """
    whole = f"(({value}) * max(score_scale) + max(score_shift)) - max(score_shift)"
    return f"({whole}) / max(score_scale)"


METRICS_TABLE = "metrics"
_PLACES = ("dim", "text", "fact")


def star_relations(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    manifest: Manifest,
    names: Sequence[str],
    spark: SparkSession | None = None,
    *,
    memory: Memory = SMALL,
) -> list[Relation]:
    """All relations of the star, or the named ones, with their rows computed."""
    known = [*sorted(star_views(), key=_place), METRICS_TABLE]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SelectionError(
            f"the star has no table named {unknown[0]!r}; {suggest(unknown[0], known)}"
        )
    compute(connection, root, manifest, _sources(), spark)
    limit_memory(connection, memory.making)
    connection.execute(_keys())
    for view in star_views().values():
        connection.execute(f"create table main.{view.name} as {view.query}")
        _require_keys(connection, view)
    connection.register("metric_rows", pl.DataFrame(metric_rows()).to_arrow())
    connection.execute(f"create table main.{METRICS_TABLE} as from metric_rows")
    limit_memory(connection, memory.reading)
    chosen = [name for name in known if name in names or not names]
    return [_relation(connection, name) for name in chosen]


def star_shapes(
    connection: duckdb.DuckDBPyConnection, root: Path, manifest: Manifest
) -> list[Relation]:
    """All relations of the star without their rows: nothing is computed."""
    populate(connection, root, manifest, names=_sources())
    connection.execute(_keys())
    for view in star_views().values():
        connection.execute(f"create view main.{view.name} as {view.query}")
    return [_relation(connection, name) for name in sorted(star_views(), key=_place)]


def _sources() -> set[str]:
    """The tables and views that the star is made from."""
    read = set().union(*(view.references for view in star_views().values()))
    return read & all_relations()


def _keys() -> str:
    return (_directory() / "macros" / "keys.sql").read_text(encoding="utf-8")


def star_documents() -> dict[str, str]:
    """The files that are written beside a star, by name."""
    return {"metrics.yaml": metrics_document()}


@cache
def star_views() -> dict[str, View]:
    """The queries of the star, each after those it reads."""
    return read_views(_directory())


def _directory() -> Path:
    return sql_directory() / "star"


def _place(name: str) -> tuple[int, bool, str]:
    """An order in which a table refers only to those before it."""
    return _PLACES.index(name.split("_")[0]), "," in star_views()[name].grain, name


def _require_keys(connection: duckdb.DuckDBPyConnection, view: View) -> None:
    """Refuse a table with two rows of one key: keys are hashes, and two names may have the same."""
    query = f"select {view.grain} from main.{view.name} group by {view.grain} having count(*) > 1"
    repeated = connection.execute(f"{query} limit 1").fetchone()
    if repeated:
        raise OrchbenchError(
            f"two rows of {view.name} have the same key {repeated}: export flat tables instead, "
            "and report this"
        )


def _relation(connection: duckdb.DuckDBPyConnection, name: str) -> Relation:
    view = star_views().get(name)
    key = tuple(view.grain.split(", ")) if view else ("metric",)
    description = view.description if view else "The metrics, and the formula of each."
    grain = view.grain if view else "metric"
    columns = []
    for column, kind, *_ in connection.execute(f"describe main.{name}").fetchall():
        if kind not in KINDS:  # of a tag, which may be anything
            changed = f"alter {quoted_name(column)} type varchar"
            connection.execute(f"alter table main.{name} {changed}")
        nullable = column not in key and not column.endswith("_sk")
        columns.append(Column(column, KINDS.get(kind, "text"), _meaning(name, column), nullable))
    table = Table(name, grain, tuple(columns))
    return Relation(table, f"{description} One row per {grain}.", key, _references(table))


def _references(table: Table) -> Mapping[str, str]:
    """The tables that a table refers to: those whose whole key is one of its columns."""
    owners = {view.grain: view.name for view in star_views().values()}
    return {
        name: owners[name]
        for name in table.column_names
        if name in owners and owners[name] != table.name
    }


@cache
def _own_columns() -> dict[str, str]:
    content = tomllib.loads((_directory() / "columns.toml").read_text(encoding="utf-8"))
    meanings: dict[str, str] = content["columns"]
    return meanings


def _meaning(table: str, column: str) -> str:
    """The description of a column: from the star, the tables it reads, or the views."""
    if table == FACT and column in averaged_columns():
        metric = averaged_columns()[column]
        return f"{described_columns()[column]} Its average over rows is the metric {metric}."
    if column in _own_columns():
        return _own_columns()[column]
    read = star_views()[table].references & TABLES.keys()
    for source in sorted(read):
        for known in TABLES[source].columns:
            if known.name == column:
                return known.description
    what = "Choice of the rule" if table == "dim_profile" else "Tag"
    return described_columns().get(column, f"{what} `{column}`.")
