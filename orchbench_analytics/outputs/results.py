"""The seed's result JSON, from our views: same nesting, same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import OVERALL_FIGURES, SCENARIO_FIGURES, is_rounded
from orchbench_analytics.profiles import Profile
from orchbench_analytics.views.catalog import frame_of

Row = dict[str, Any]
Printing = Callable[[float | None], float | None]


def result_document(
    connection: duckdb.DuckDBPyConnection,
    profile: Profile,
    *,
    model: str,
    experiment: str,
    language: str,
) -> Row:
    """One model's results in one language, in the seed's format."""
    key = {"model": model, "experiment": experiment, "language": language}
    under_profile = {"profile": profile.name, **key}
    scores = _rows(
        connection,
        """
        select * from main.model_scores
        where profile = $profile and model = $model and experiment = $experiment
            and language = $language
        """,
        under_profile,
    )
    if not scores:
        raise SelectionError(
            f"no scores of {model} / {experiment} / {language} under {profile.name}"
        )
    scenarios = _rows(
        connection,
        """
        select scores.*, coalesce(sources.path, scores.scenario || '_out.json') as file_path
        from main.scenario_scores as scores
        left join main.sources as sources
            on sources.kind = 'runs' and sources.status = 'taken'
            and sources.model = scores.model and sources.experiment = scores.experiment
            and sources.language = scores.language and sources.scenario = scores.scenario
        where scores.profile = $profile and scores.model = $model
            and scores.experiment = $experiment and scores.language = $language
        order by scores.scenario
        """,
        under_profile,
    )
    refused = _rows(
        connection,
        """
        select path, scenario, reason, message from main.sources
        where kind = 'runs' and status = 'refused' and reason <> 'duplicate'
            and model = $model and experiment = $experiment and language = $language
        order by path
        """,
        key,
    )
    finish = _finish(profile)
    return {
        "directory": _directory(scenarios),
        "profile": profile.name,
        "overall_statistics": overall_statistics(scores[0], profile),
        "detailed_results": [
            *(_scenario_result(row, finish) for row in scenarios),
            *(
                {
                    "file_path": r["path"],
                    "scenario": r["scenario"],
                    "error": f"{r['reason']}: {r['message']}",
                }
                for r in refused
            ),
        ],
    }


def overall_statistics(scores: Row, profile: Profile) -> Row:
    """The seed's `overall_statistics` from a row of `model_scores` under a profile."""
    statistics: Row = {}
    finish = _finish(profile)
    for path, column in OVERALL_FIGURES.items():
        *sections, name = path.split(".")
        section = statistics
        for outer in sections:
            section = section.setdefault(outer, {})
        value = _printed(scores[column], column, finish)
        section[name] = round(value, 4) if is_rounded(path) and value is not None else value
    return statistics


def _scenario_result(row: Row, finish: Printing) -> Row:
    figures = {
        name: _printed(row[column], column, finish) for name, column in SCENARIO_FIGURES.items()
    }
    return {"file_path": row["file_path"], "scenario": row["scenario"], **figures}


def _printed(value: Any, column: str, finish: Printing) -> Any:
    """Counts as they are, scores as they are to be printed."""
    return value if column.endswith("_count") else finish(value)


def _directory(scenarios: list[Row]) -> str:
    paths = [row["file_path"] for row in scenarios if row["file_path"]]
    return str(paths[0]).rpartition("/")[0] if paths else ""


def _rows(connection: duckdb.DuckDBPyConnection, query: str, parameters: Row) -> list[Row]:
    return frame_of(connection.sql(query, params=parameters)).to_dicts()


def _finish(profile: Profile) -> Printing:
    """How a score is printed under a profile: an undefined one as null, or as 0 by its rule.

    The public evaluator rounds on its way and prints the rest as it is; we round at the end.
    """
    is_rounding = profile.rounding == "none"
    undefined = 0.0 if profile.undefined == "zero" else None

    def finish(value: float | None) -> float | None:
        if value is None:
            return undefined
        return round(value, 4) if is_rounding else value

    return finish
