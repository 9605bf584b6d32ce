"""A bundle for Apache Superset: a database, datasets with their metrics, charts, one dashboard.

`superset.yaml` holds every document of the bundle; this module fills in names and ids, and adds
what follows from the star and from `metrics.py`. The rows stay in the database that Superset asks.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import msgspec
import yaml

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.addresses import is_address, parse, shown
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import is_sealed, seal
from orchbench_analytics.exports.star import formula_of
from orchbench_analytics.metrics import HEADLINE, LABELS, METRICS
from orchbench_analytics.schema import Column, Kind, maybe_count, maybe_number
from orchbench_analytics.store.replace import is_empty, new_file, refuse
from orchbench_analytics.views.catalog import quoted_name

TEMPLATE = Path(__file__).with_suffix(".yaml")
_GAP = re.compile(r"\$\{([^}]*)\}")
_VERSION = "1.0.0"  # of Superset's format
_HIDDEN = "XXXXXXXXXX"  # Superset's own mark for a password that it will ask for
_MADE_AT = (1980, 1, 1, 0, 0, 0)  # the earliest time a ZIP can hold, so equal bundles are equal
_SHARE = ".3f"
_MOST_ROWS = 10_000  # of a chart
_TYPES: Mapping[Kind, str] = {
    "text": "VARCHAR",
    "int": "BIGINT",
    "float": "DOUBLE PRECISION",
    "bool": "BOOLEAN",
    "timestamp": "TIMESTAMP",
}
Document = dict[str, Any]


class BundleSummary(NamedTuple):
    """What was written: the names of datasets and charts, and whether the file was so already."""

    target: str
    uri: str
    datasets: tuple[str, ...]
    charts: tuple[str, ...]
    is_unchanged: bool


def write_bundle(
    path: Path, uri: str, relations: Sequence[Relation], *, profile: str
) -> BundleSummary:
    """Write the bundle for a star at an address; the same bundle is not written again."""
    hidden = without_secret(uri)
    if not is_empty(path) and not is_sealed(path):
        raise refuse(path, "a bundle")
    old = _read(path)
    template = _filled(yaml.safe_load(TEMPLATE.read_bytes()), _values(hidden, profile))
    documents = _documents(template, hidden, {relation.name: relation for relation in relations})
    if old != documents:
        with new_file(path) as staged:
            with zipfile.ZipFile(staged, "w") as bundle:
                for name, text in documents.items():
                    bundle.writestr(zipfile.ZipInfo(name, _MADE_AT), text, zipfile.ZIP_DEFLATED)
            seal(staged)
    charts = tuple(chart["slice_name"] for chart in template["charts"])
    return BundleSummary(str(path), hidden, tuple(template["datasets"]), charts, old == documents)


def without_secret(uri: str) -> str:
    """The address with Superset's mark in place of a password: Superset asks for it on import."""
    if not is_address(uri) or "://" not in uri:
        raise PathError(
            f"{shown(uri)} is not an address as SQLAlchemy has it, "
            "such as postgresql://HOST/DATABASE or duckdb:////data/star.duckdb"
        )
    address = parse(uri)
    if address.has_secret_query or not address.is_clear:
        raise PathError(
            f"{shown(uri)}: a bundle holds no password; leave it out, or write it as "
            "postgresql://USER:PASSWORD@HOST/DATABASE, percent-encoded: Superset asks for it"
        )
    return address.with_password(None if address.password is None else _HIDDEN)


def _values(uri: str, profile: str) -> Callable[[str], str]:
    """What the gaps of the template stand for; one address always gives the same ids."""
    rest = uri.split("://", 1)[1]
    place = rest.rpartition("@")[2] if "@" in urlsplit(uri).netloc else rest
    known = {"uri": uri, "place": place, "profile": profile, "database": _database_name(uri)}

    def value_of(name: str) -> str:
        return known[name] if name in known else _id_of(uri, name.removeprefix("id "))

    return value_of


def _id_of(uri: str, part: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"{uri} {part}"))


def _database_name(uri: str) -> str:
    """What people call the database: the last part of its path."""
    return PurePosixPath(urlsplit(uri).path).stem or "orchbench"


def _filled(template: Any, value_of: Callable[[str], str]) -> Any:
    """A template with every gap filled, in keys and in values."""
    match template:
        case str():
            return _GAP.sub(lambda gap: value_of(gap[1]), template)
        case dict():
            return {_filled(k, value_of): _filled(v, value_of) for k, v in template.items()}
        case list():
            items = (HEADLINE if item == "${headline}" else (item,) for item in template)
            return [_filled(item, value_of) for several in items for item in several]
        case _:
            return template


def _documents(template: Document, uri: str, star: Mapping[str, Relation]) -> dict[str, str]:
    """Every document of the bundle by its path."""
    held = {"metadata": template["metadata"], "databases/orchbench": template["database"]}
    for name, dataset in template["datasets"].items():
        held[f"datasets/orchbench/{name}"] = {
            "table_name": f"{_database_name(uri)}_{name}",  # some Supersets want names that differ
            "description": dataset["description"],
            **_dataset(name, dataset, star, template["labels"]),
            "uuid": _id_of(uri, f"dataset {name}"),
            "database_uuid": template["database"]["uuid"],
        }
    for chart in template["charts"]:
        params = {"adhoc_filters": [], "row_limit": _MOST_ROWS, **chart["params"]}
        held[f"charts/{chart['slice_name'].replace(' ', '_')}"] = {
            "slice_name": chart["slice_name"],
            "description": chart["description"],
            "viz_type": params["viz_type"],
            "params": params,
            "query_context": _query_context(chart, params),
            "uuid": _id_of(uri, f"chart {chart['slice_name']}"),
            "dataset_uuid": _id_of(uri, f"dataset {chart['dataset']}"),
        }
    held["dashboards/orchbench"] = _dashboard(uri, **template["dashboard"])
    return {f"orchbench/{name}.yaml": _text(document) for name, document in held.items()}


def _dashboard(
    uri: str, *, words: str, rows: Sequence[Mapping[str, int]], **others: Any
) -> Document:
    """The dashboard with its grid: words, and below them rows of charts with their widths."""
    title, grid = others["dashboard_title"], ["ROOT_ID", "GRID_ID"]
    parts: list[Document] = [
        {"id": "ROOT_ID", "type": "ROOT", "children": ["GRID_ID"]},
        {"id": "HEADER_ID", "type": "HEADER", "meta": {"text": title}},
    ]

    def add_row(name: str, members: Mapping[str, Document]) -> None:
        row = {"id": name, "type": "ROW", "children": [*members], "parents": grid}
        parts.append({**row, "meta": {"background": "BACKGROUND_TRANSPARENT"}})
        for member, content in members.items():
            parts.append({"id": member, "children": [], "parents": [*grid, name], **content})

    said = {"code": words, "width": 12, "height": 12}
    add_row("ROW-words", {"MARKDOWN-words": {"type": "MARKDOWN", "meta": said}})
    for number, charts in enumerate(rows, start=1):
        members = {}
        for name, width in charts.items():
            own = _id_of(uri, f"chart {name}")
            meta = {"chartId": 0, "uuid": own, "sliceName": name, "width": width, "height": 50}
            members[f"CHART-{own}"] = {"type": "CHART", "meta": meta}
        add_row(f"ROW-{number}", members)
    names = [part["id"] for part in parts if part["type"] == "ROW"]
    parts.append({"id": "GRID_ID", "type": "GRID", "children": names, "parents": ["ROOT_ID"]})
    position = {"DASHBOARD_VERSION_KEY": "v2", **{part["id"]: part for part in parts}}
    return {**others, "position": position}


def _query_context(chart: Document, params: Document) -> str:
    """The query of a chart, for those who ask for its data without drawing it."""
    query = {
        "columns": chart["columns"],
        "metrics": chart["metrics"],
        "orderby": [[chart["metrics"][0], False]],
        "row_limit": _MOST_ROWS,
        "filters": [],
    }
    context = {
        "datasource": {"id": 0, "type": "table"},  # Superset puts its own here
        "force": False,
        "queries": [query],
        "form_data": params,
        "result_format": "json",
        "result_type": "full",
    }
    return msgspec.json.encode(context).decode()


def _dataset(
    name: str, dataset: Document, star: Mapping[str, Relation], labels: Mapping[str, str]
) -> Document:
    """The query of a dataset, its columns, and what may be measured in it."""
    query = _joined(star, dataset["fact"])
    columns = [column for _, column in _parts(star, dataset["fact"])]
    metrics: Mapping[str, str] = {}
    if name == "scenario_scores":
        metrics = {metric: formula_of(metric) for metric in METRICS}
    if name == "model_scores":  # the mean over languages is the leaderboard's score
        metrics = {metric: f"avg({metric})" for metric in METRICS}
        known = {column.name: column for column in columns}
        keys = ("profile", "language", *star["dim_model"].table.column_names)
        groups = [known[key] for key in keys if key in known]
        query = _by_model(query, [quoted_name(column.name) for column in groups])
        columns = [*groups, *_model_figures()]
    return {
        "sql": query,
        "schema": None,
        "filter_select_enabled": True,
        "columns": [
            {
                "column_name": column.name,
                "verbose_name": labels.get(column.name),
                "description": column.description,
                "type": _TYPES[column.kind],
                "is_dttm": column.kind == "timestamp",
                "groupby": True,
                "filterable": True,
                "is_active": True,
            }
            for column in columns
        ],
        "metrics": [
            *(
                {
                    "metric_name": metric,
                    "verbose_name": LABELS[metric],
                    "expression": expression,
                    "description": METRICS[metric].description,
                    "d3format": _SHARE,
                }
                for metric, expression in metrics.items()
            ),
            *dataset["measures"],
        ],
    }


def _by_model(scenarios: str, keys: Sequence[str]) -> str:
    """The query for every metric of a model in a language."""
    grouped = ", ".join(keys)
    formed = ", ".join(f"{formula_of(name)} as {name}" for name in METRICS)
    return (
        f"select {grouped}, {formed}, sum(used_cost) as used_cost, "
        "sum(case when used_cost is not null then run_count else 0 end) as cost_run_count, "
        f"count(*) as scenario_count from ({scenarios}) as scenario_scores group by {grouped}"
    )


def _model_figures() -> Iterator[Column]:
    for name, metric in METRICS.items():
        yield maybe_number(name, metric.description)
    yield maybe_number("used_cost", "Cost of the runs whose cost is known.")
    yield maybe_count("cost_run_count", "Runs of the files whose cost is known.")
    yield maybe_count("scenario_count", "Scored scenario files.")


def _dimensions(star: Mapping[str, Relation], fact: str) -> dict[str, str]:
    """The dimensions of a fact by key; models come last, since their tags may have any name."""
    found = {k: t for k, t in star[fact].references.items() if t.startswith("dim_")}
    return dict(sorted(found.items(), key=lambda item: item[1] == "dim_model"))


def _parts(star: Mapping[str, Relation], fact: str) -> Iterator[tuple[str, Column]]:
    """The columns of a fact and its dimensions with their tables, each once, without the keys."""
    dimensions = _dimensions(star, fact)
    taken = set(dimensions)
    for table in (fact, *dimensions.values()):
        for column in star[table].table.columns:
            is_wanted = table != "dim_profile" or column.name == "profile"
            if is_wanted and column.name not in taken:
                taken.add(column.name)
                yield table, column


def _joined(star: Mapping[str, Relation], fact: str) -> str:
    """The query of a fact with its dimensions; every key has its row, so no row is lost."""
    columns = ", ".join(
        f"{table}.{quoted_name(column.name)}" for table, column in _parts(star, fact)
    )
    joins = "".join(
        f" inner join {table} on {fact}.{key} = {table}.{key}"
        for key, table in _dimensions(star, fact).items()
    )
    return f"select {columns} from {fact}{joins}"


def _text(document: Document) -> str:
    versioned = {**document, "version": _VERSION}
    text: str = yaml.safe_dump(versioned, sort_keys=False, allow_unicode=True, width=1_000)
    return text


def _read(path: Path) -> dict[str, str] | None:
    """The documents of a bundle that is there; null where there is none."""
    try:
        with zipfile.ZipFile(path) as bundle:
            return {name: bundle.read(name).decode() for name in bundle.namelist()}
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError):
        return None
