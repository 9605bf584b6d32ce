"""The dashboard of the bundle: its rows of charts, and the filters for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from orchbench_analytics.exports.superset.charts import ROWS, Chart

TITLE = "OrchestrationBench"
_HEIGHT = 50
_WORDS = """\
Every figure is of **one profile** of scoring rules, which the filter on the left chooses. \
A score of a model is the mean of its languages' scores; an empty cell means that the score is \
undefined, not 0. Point at the name of a metric to see what it is."""
_GRID = ["ROOT_ID", "GRID_ID"]


def positions(title: str, uuid_of: Callable[[Chart], str]) -> dict[str, Any]:
    """Where everything stands, in the form that Superset keeps."""
    rows = [*_rows(uuid_of)]
    words = _row("ROW-words", [_words()])
    placed = {part["id"]: part for part in (*words, *(part for row in rows for part in row))}
    return {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"id": "ROOT_ID", "type": "ROOT", "children": ["GRID_ID"]},
        "GRID_ID": {
            "id": "GRID_ID",
            "type": "GRID",
            "children": [words[0]["id"], *(row[0]["id"] for row in rows)],
            "parents": ["ROOT_ID"],
        },
        "HEADER_ID": {"id": "HEADER_ID", "type": "HEADER", "meta": {"text": title}},
        **placed,
    }


def settings(dataset_uuid: str, profile: str) -> dict[str, Any]:
    """The filters, and how the dashboard behaves."""
    return {
        "native_filter_configuration": [
            _filter("Profile", "profile", dataset_uuid, chosen=profile),
            _filter("Language", "language", dataset_uuid),
            _filter("Model", "model_label", dataset_uuid),
        ],
        "cross_filters_enabled": True,
        "color_scheme": "supersetColors",
        "refresh_frequency": 0,
    }


def _rows(uuid_of: Callable[[Chart], str]) -> Iterator[list[dict[str, Any]]]:
    for number, charts in enumerate(ROWS, start=1):
        yield _row(f"ROW-{number}", [_chart(chart, uuid_of(chart)) for chart in charts])


def _row(name: str, children: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row and what stands in it, the row first."""
    row = {
        "id": name,
        "type": "ROW",
        "children": [child["id"] for child in children],
        "meta": {"background": "BACKGROUND_TRANSPARENT"},
        "parents": _GRID,
    }
    return [row, *({**child, "parents": [*_GRID, name]} for child in children)]


def _chart(chart: Chart, uuid: str) -> dict[str, Any]:
    return {
        "id": f"CHART-{uuid}",
        "type": "CHART",
        "children": [],
        "meta": {
            "chartId": 0,  # Superset gives it its own
            "uuid": uuid,
            "sliceName": chart.title,
            "width": chart.width,
            "height": _HEIGHT,
        },
    }


def _words() -> dict[str, Any]:
    meta = {"code": _WORDS, "width": 12, "height": 12}
    return {"id": "MARKDOWN-words", "type": "MARKDOWN", "children": [], "meta": meta}


def _filter(
    name: str, column: str, dataset_uuid: str, *, chosen: str | None = None
) -> dict[str, Any]:
    """A filter for all charts; one with a value chosen always has exactly one."""
    mask: dict[str, Any] = {"filterState": {}, "extraFormData": {}}
    if chosen is not None:
        condition = {"col": column, "op": "IN", "val": [chosen]}
        mask = {
            "filterState": {"value": [chosen], "label": chosen},
            "extraFormData": {"filters": [condition]},
        }
    return {
        "id": f"NATIVE_FILTER-{column}",
        "type": "NATIVE_FILTER",
        "filterType": "filter_select",
        "name": name,
        "targets": [{"column": {"name": column}, "datasetUuid": dataset_uuid}],
        "scope": {"rootPath": ["ROOT_ID"], "excluded": []},
        "controlValues": {
            "multiSelect": chosen is None,
            "enableEmptyFilter": chosen is not None,
            "defaultToFirstItem": False,
            "inverseSelection": False,
            "searchAllOptions": False,
        },
        "defaultDataMask": mask,
        "cascadeParentIds": [],
    }
