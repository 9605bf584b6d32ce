"""The bundle as a file: a ZIP of YAML documents in the form that Superset imports."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import msgspec
import yaml

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.addresses import is_address, parse, shown
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.seal import is_sealed, seal
from orchbench_analytics.exports.superset.charts import CHARTS, Chart, form_of, query_of
from orchbench_analytics.exports.superset.dashboard import TITLE, positions, settings
from orchbench_analytics.exports.superset.datasets import COLUMN_LABELS, Dataset, datasets
from orchbench_analytics.schema import Kind
from orchbench_analytics.store.replace import is_empty, new_file, refuse

_ROOT = "orchbench"
_VERSION = "1.0.0"  # of Superset's format
_HIDDEN = "XXXXXXXXXX"  # Superset's own mark for a password that it will ask for
_MADE_AT = (1980, 1, 1, 0, 0, 0)  # the first moment a ZIP knows, so equal bundles are equal files
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
    made = datasets(relations)
    documents = bundle_documents(made, hidden, profile=profile)
    if old != documents:
        with new_file(path) as staged:
            with zipfile.ZipFile(staged, "w") as bundle:
                for name, text in documents.items():
                    bundle.writestr(zipfile.ZipInfo(name, _MADE_AT), text, zipfile.ZIP_DEFLATED)
            seal(staged)
    names = tuple(dataset.name for dataset in made)
    titles = tuple(chart.title for chart in CHARTS)
    return BundleSummary(str(path), hidden, names, titles, old == documents)


def bundle_documents(made: Sequence[Dataset], uri: str, *, profile: str) -> dict[str, str]:
    """Every document of the bundle by its path; one address always gives the same ids."""

    def id_of(kind: str, name: str) -> str:
        return str(uuid5(NAMESPACE_URL, f"{uri} {kind} {name}"))

    def id_of_chart(chart: Chart) -> str:
        return id_of("chart", chart.title)

    database, called = id_of("database", ""), _called(uri)
    held: dict[str, Document] = {
        "metadata": {"timestamp": "1980-01-01T00:00:00+00:00"},
        "databases/orchbench": {
            "database_name": f"{TITLE} at {_place(uri)}",
            "sqlalchemy_uri": uri,
            "expose_in_sqllab": True,
            "allow_dml": False,
            "extra": {"allows_virtual_table_explore": True},
            "uuid": database,
        },
    }
    for dataset in made:
        ids = {"uuid": id_of("dataset", dataset.name), "database_uuid": database}
        held[f"datasets/orchbench/{dataset.name}"] = {**_dataset(dataset, called), **ids}
    for chart in CHARTS:
        ids = {"uuid": id_of_chart(chart), "dataset_uuid": id_of("dataset", chart.dataset)}
        held[f"charts/{chart.title.replace(' ', '_')}"] = {**_chart(chart), **ids}
    title = f"{TITLE} ({called})"
    held["dashboards/orchbench"] = {
        "dashboard_title": title,
        "description": "Scores, decisions, tools, plans and costs of every model.",
        "position": positions(title, id_of_chart),
        "metadata": settings(id_of("dataset", made[0].name), profile),
        "published": True,
        "uuid": id_of("dashboard", ""),
    }
    return {f"{_ROOT}/{name}.yaml": _text(document) for name, document in held.items()}


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


def _place(uri: str) -> str:
    """Where an address points, without who asks and how."""
    rest = uri.split("://", 1)[1]
    return rest.rpartition("@")[2] if "@" in urlsplit(uri).netloc else rest


def _called(uri: str) -> str:
    """What people call the database: the last part of its path."""
    return PurePosixPath(urlsplit(uri).path).stem or "orchbench"


def _dataset(dataset: Dataset, database: str) -> Document:
    return {
        "table_name": f"{database}_{dataset.name}",  # some Supersets want names that differ
        "description": dataset.description,
        "sql": dataset.query,
        "schema": None,
        "filter_select_enabled": True,
        "columns": [
            {
                "column_name": column.name,
                "verbose_name": COLUMN_LABELS.get(column.name),
                "description": column.description,
                "type": _TYPES[column.kind],
                "is_dttm": column.kind == "timestamp",
                "groupby": True,
                "filterable": True,
                "is_active": True,
            }
            for column in dataset.columns
        ],
        "metrics": [
            {
                "metric_name": measure.name,
                "verbose_name": measure.label,
                "expression": measure.expression,
                "description": measure.description,
                "d3format": measure.shown_as,
            }
            for measure in dataset.measures
        ],
    }


def _chart(chart: Chart) -> Document:
    form = form_of(chart)
    context = {
        "datasource": {"id": 0, "type": "table"},  # Superset puts its own here
        "force": False,
        "queries": [query_of(chart)],
        "form_data": form,
        "result_format": "json",
        "result_type": "full",
    }
    return {
        "slice_name": chart.title,
        "description": chart.description,
        "viz_type": chart.kind,
        "params": form,
        "query_context": msgspec.json.encode(context).decode(),
    }


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
