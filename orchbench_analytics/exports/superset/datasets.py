"""The datasets of the bundle: each fact joined with its dimensions, and scores by the formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.semantics import formula_of
from orchbench_analytics.metrics import LABELS, METRICS
from orchbench_analytics.schema import Column, maybe_count, maybe_number
from orchbench_analytics.views.sql_text import quoted_name

SHARE, COUNT, COST = ".3f", ",d", ",.4f"  # how figures are shown
_PROFILES, _MODELS = "dim_profile", "dim_model"
COLUMN_LABELS = {
    "model_label": "Model",
    "language": "Language",
    "tool": "Tool",
    "kind": "Kind of edit",
    "actual": "Label",
    "predicted": "Decision",
}
_COST_RUNS = "sum(case when used_cost is not null then run_count else 0 end)"


class Measure(NamedTuple):
    """An aggregate that charts may ask for: its name, what people call it, and its SQL."""

    name: str
    label: str
    expression: str
    description: str
    shown_as: str


class Dataset(NamedTuple):
    """A query over the star, its columns, and what may be measured in it."""

    name: str
    description: str
    query: str
    columns: tuple[Column, ...]
    measures: tuple[Measure, ...]


class _Fact(NamedTuple):
    """A fact of the star that becomes a dataset of that name."""

    name: str
    description: str
    measures: tuple[Measure, ...]


def _counted(name: str, label: str, description: str, expression: str = "count(*)") -> Measure:
    return Measure(name, label, expression, description, COUNT)


def _divided(name: str, label: str, description: str, above: str, below: str) -> Measure:
    expression = f"cast({above} as double precision) / nullif({below}, 0)"
    return Measure(name, label, expression, description, SHARE)


_TP, _FP, _FN = (
    f"sum({kind}_count)" for kind in ("true_positive", "false_positive", "false_negative")
)
_FACTS = {
    "fact_step": _Fact(
        "steps",
        "Every step with its label and its decision. Choose one profile.",
        (
            _counted(
                "step_count",
                "Scored steps",
                "Steps that count under the profile.",
                "sum(case when is_scored then 1 else 0 end)",
            ),
        ),
    ),
    "fact_step_tool": _Fact(
        "tools",
        "Every tool that a scored step wanted, called, or both. Choose one profile.",
        (
            _counted("labelled_step_count", "Wanted", "Steps that want it.", f"{_TP} + {_FN}"),
            _counted("answered_step_count", "Called", "Steps that call it.", f"{_TP} + {_FP}"),
            _divided("tool_precision", "Precision", "Share of its calls that were wanted.",
                     _TP, f"{_TP} + {_FP}"),
            _divided("tool_recall", "Recall", "Share of the steps wanting it that call it.",
                     _TP, f"{_TP} + {_FN}"),
            _divided("tool_f1", "F1", "F1 of choosing it.",
                     f"2 * {_TP}", f"2 * {_TP} + {_FP} + {_FN}"),
        ),
    ),
    "fact_plan_edit": _Fact(
        "plan_edits",
        "Every edit on the way from an answered plan to the gold one. Choose one profile.",
        (
            _counted("edit_count", "Edits", "Edits of plans that could be read."),
            Measure("edit_cost", "Cost of edits", "sum(cost)", "What the edits cost.", ",.1f"),
        ),
    ),
}  # fmt: skip


def datasets(relations: Sequence[Relation]) -> tuple[Dataset, ...]:
    """Every dataset of the bundle, from the relations of the star."""
    star = {relation.name: relation for relation in relations}
    scenarios = _joined(star, "fact_scenario")
    return (
        _model_scores(star, scenarios),
        Dataset(
            "scenario_scores",
            "The scores and counts of every scenario file. Choose one profile, model and language.",
            scenarios,
            tuple(_columns(star, "fact_scenario")),
            tuple(_formulas()),
        ),
        *(
            Dataset(
                f.name, f.description, _joined(star, fact), tuple(_columns(star, fact)), f.measures
            )
            for fact, f in _FACTS.items()
        ),
    )


def _formulas() -> Iterator[Measure]:
    for name, metric in METRICS.items():
        yield Measure(name, metric.label, formula_of(name), metric.description, SHARE)


def _model_scores(star: Mapping[str, Relation], scenarios: str) -> Dataset:
    """Every metric of a model in a language; the mean over languages is the leaderboard's score."""
    known = {column.name: column for column in _columns(star, "fact_scenario")}
    names = ("profile", "language", *(c.name for c in star[_MODELS].table.columns))
    keys = [known[name] for name in names if name in known]
    grouped = ", ".join(quoted_name(key.name) for key in keys)
    formed = ", ".join(f"{formula_of(name)} as {name}" for name in METRICS)
    query = (
        f"select {grouped}, {formed}, sum(used_cost) as used_cost, "
        f"{_COST_RUNS} as cost_run_count, count(*) as scenario_count "
        f"from ({scenarios}) as scenario_scores group by {grouped}"
    )
    figures = (
        *(maybe_number(name, metric.description) for name, metric in METRICS.items()),
        maybe_number("used_cost", "Cost of the runs whose cost is known."),
        maybe_count("cost_run_count", "Runs of the files whose cost is known."),
        maybe_count("scenario_count", "Scored scenario files."),
    )
    means = (
        Measure(name, LABELS[name], f"avg({name})", METRICS[name].description, SHARE)
        for name in METRICS
    )
    cost = "sum(used_cost) / nullif(sum(cost_run_count), 0)"
    measures = (
        *means,
        Measure("mean_run_cost", "Cost of a run", cost, "Cost for a run of a scenario.", COST),
        _counted("scenarios", "Scenarios", "Scored scenario files.", "sum(scenario_count)"),
    )
    description = "The scores of every model in each language. Choose one profile."
    return Dataset("model_scores", description, query, (*keys, *figures), measures)


def _dimensions(star: Mapping[str, Relation], fact: str) -> dict[str, str]:
    """The dimensions of a fact by key; models come last, since their tags may have any name."""
    found = {k: t for k, t in star[fact].references.items() if t.startswith("dim_")}
    return dict(sorted(found.items(), key=lambda item: item[1] == _MODELS))


def _parts(star: Mapping[str, Relation], fact: str) -> Iterator[tuple[str, Column]]:
    """The columns of a fact and its dimensions, each once and with its table; keys stay behind."""
    dimensions = _dimensions(star, fact)
    taken = set(dimensions)
    for table in (fact, *dimensions.values()):
        for column in star[table].table.columns:
            is_wanted = table != _PROFILES or column.name == "profile"
            if is_wanted and column.name not in taken:
                taken.add(column.name)
                yield table, column


def _columns(star: Mapping[str, Relation], fact: str) -> Iterator[Column]:
    return (column for _, column in _parts(star, fact))


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
