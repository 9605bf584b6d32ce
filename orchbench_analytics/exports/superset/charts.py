"""The charts of the bundle, each as its dataset, its kind, and what it asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from orchbench_analytics.exports.superset.datasets import COST, SHARE
from orchbench_analytics.metrics import HEADLINE

_MOST_ROWS = 10_000


class Chart(NamedTuple):
    """A chart: its title, what it shows, and the form that Superset draws it from.

    `columns` and `measures` are what its query asks, and of a table what it shows; `width` is in
    twelfths of the dashboard.
    """

    title: str
    description: str
    dataset: str
    kind: str
    columns: tuple[str, ...]
    measures: tuple[str, ...]
    form: Mapping[str, Any]
    width: int


LEADERBOARD = Chart(
    "Leaderboard",
    "The four headline scores of every model: the mean of its languages.",
    "model_scores",
    "table",
    ("model_label",),
    (*HEADLINE, "scenarios"),
    {"column_config": {"scenarios": {"showCellBars": False}}},
    7,
)
COST_AND_SCORE = Chart(
    "Cost against score",
    "What a run of a scenario costs, and the average score: up and to the left is better.",
    "model_scores",
    "bubble_v2",
    ("model", "experiment"),
    ("mean_run_cost", HEADLINE[0], "scenarios"),
    {
        "entity": "experiment",
        "series": "model",
        "x": "mean_run_cost",
        "y": HEADLINE[0],
        "size": "scenarios",
        "max_bubble_size": "10",
        "opacity": 0.8,
        "xAxisFormat": COST,
        "x_axis_label": "Cost of a run",
        "x_axis_title_margin": 30,
        "truncateXAxis": False,
        "y_axis_format": SHARE,
        "y_axis_label": "Average",
        "y_axis_title_margin": 60,
        "y_axis_bounds": [0, 1],
        "show_legend": True,
        "legendOrientation": "right",
        "legendType": "scroll",
        "color_scheme": "supersetColors",
        "tooltipSizeFormat": ",d",
    },
    5,
)
CONFUSION = Chart(
    "Confusion matrix",
    "Scored steps by what the label asks (rows) and what the model did (columns).",
    "steps",
    "heatmap_v2",
    ("predicted", "actual"),
    ("step_count",),
    {
        "x_axis": "predicted",
        "groupby": "actual",
        "metric": "step_count",
        "normalize_across": "y",
        "normalized": True,
        "linear_color_scheme": "schemeBlues",
        "show_legend": False,
        "show_percentage": True,
        "show_values": True,
        "sort_x_axis": "alpha_asc",
        "sort_y_axis": "alpha_desc",
        "xscale_interval": 1,
        "yscale_interval": 1,
        "xAxisLabelRotation": 20,
        "left_margin": "auto",
        "bottom_margin": "auto",
        "y_axis_format": ",d",
        "value_bounds": [None, None],
    },
    6,
)
PLAN_ERRORS = Chart(
    "Plan errors",
    "Edits that would turn the answered plans into the gold ones, by kind.",
    "plan_edits",
    "echarts_timeseries_bar",
    ("model_label", "kind"),
    ("edit_count",),
    {
        "x_axis": "model_label",
        "groupby": ["kind"],
        "metrics": ["edit_count"],
        "orientation": "horizontal",
        "stack": "Stack",
        "order_desc": True,
        "x_axis_sort": "sum",
        "x_axis_sort_asc": True,
        "show_legend": True,
        "legendOrientation": "right",
        "legendType": "scroll",
        "color_scheme": "supersetColors",
        "rich_tooltip": True,
        "y_axis_format": ",d",
    },
    6,
)
TOOLS = Chart(
    "Tools",
    "How well each tool is chosen, over all models that are selected; most wanted first.",
    "tools",
    "table",
    ("tool",),
    (
        "labelled_step_count",
        "answered_step_count",
        "tool_precision",
        "tool_recall",
        "tool_f1",
    ),
    {},
    6,
)
LANGUAGES = Chart(
    "Languages",
    "The headline scores of every model in each language.",
    "scenario_scores",
    "pivot_table_v2",
    ("model_label", "language"),
    HEADLINE,
    {
        "groupbyRows": ["model_label"],
        "groupbyColumns": ["language"],
        "metrics": [*HEADLINE],
        "metricsLayout": "COLUMNS",
        "aggregateFunction": "Average",
        "valueFormat": SHARE,
        "rowOrder": "key_a_to_z",
        "colOrder": "key_a_to_z",
    },
    6,
)
# The dashboard, row by row.
ROWS = ((LEADERBOARD, COST_AND_SCORE), (CONFUSION, PLAN_ERRORS), (TOOLS, LANGUAGES))
CHARTS = tuple(chart for row in ROWS for chart in row)


def query_of(chart: Chart) -> dict[str, Any]:
    """The query of a chart, for those who ask for its data without drawing it."""
    return {
        "columns": list(chart.columns),
        "metrics": list(chart.measures),
        "orderby": [[chart.measures[0], False]],
        "row_limit": _MOST_ROWS,
        "filters": [],
    }


def form_of(chart: Chart) -> dict[str, Any]:
    """Everything that Superset keeps of a chart's form."""
    table = {
        "query_mode": "aggregate",
        "groupby": list(chart.columns),
        "metrics": list(chart.measures),
        "timeseries_limit_metric": chart.measures[0],
        "order_desc": True,
        "show_cell_bars": True,
    }
    own = {**table, **chart.form} if chart.kind == "table" else chart.form
    return {"viz_type": chart.kind, "adhoc_filters": [], "row_limit": _MOST_ROWS, **own}
