"""Finding what people ask for by name: a profile, a tag, a result; errors say what there is."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import duckdb
import polars as pl

from orchbench_analytics.errors import NoAnswersError, SelectionError
from orchbench_analytics.profiles import BUILT_IN, SPEC, Profile, profile_of
from orchbench_analytics.selection import find_contenders
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import SCENARIO_SCORES
from orchbench_analytics.views.catalog import frame_of

RUNS_FILE = "<scenario>_out.json"


class Result(NamedTuple):
    """A model's results in one experiment and language."""

    model: str
    experiment: str
    language: str


def scored_profile(root: Path, manifest: Manifest, name: str | None = None) -> Profile:
    """A profile that the warehouse was scored under; `spec`, or whatever has rows, by default."""
    with_rows = profiles_with_rows(manifest)
    if name is None:
        name = next(iter(with_rows), SPEC.name)
    if name in manifest.profiles:
        profile = profile_of(manifest.profiles[name])
        if with_rows and name not in with_rows:
            lacking = (
                f"{root} has result files alone, and {name} scores answers, so ingest the runs "
                f"({RUNS_FILE}) too"
                if profile.scored_from == "answers"
                else "no result file has whole rows in its detailed_results"
            )
            there = f"there are scores under --profile {with_rows[0]}"
            raise NoAnswersError(f"nothing is scored under {name}: {lacking}; {there}")
        return profile
    found = f", only under {', '.join(manifest.profiles)}" if manifest.profiles else ""
    close = get_close_matches(name.removesuffix(".toml"), manifest.profiles, n=1)
    wanted = name if name in BUILT_IN or name.endswith(".toml") else "FILE.toml"
    score = f"score it with: orchbench score {quote(f'{root}')} --profile {quote(wanted)}"
    remedy = f"did you mean {close[0]}?" if close else score
    raise SelectionError(f"{root} is not scored under {name!r}{found}; {remedy}")


def profiles_with_rows(manifest: Manifest) -> list[str]:
    """The profiles that some scenario has scores under, `spec` first."""
    scored = {g.profile for g in manifest.scores if g.row_counts.get(SCENARIO_SCORES.name)}
    return sorted(scored & manifest.profiles.keys(), key=lambda name: (name != SPEC.name, name))


def require_answers(profile: Profile, what: str) -> None:
    """Refuse what is made from answers under a profile that has none."""
    if profile.scored_from == "results":
        raise NoAnswersError(
            f"{what} needs the answers themselves, and {profile.name} has what result files say of "
            f"each scenario: ingest the runs ({RUNS_FILE}), then name another --profile"
        )


# What tags are put beside, and the column that a leaderboard by tag adds.
TAGGED_VIEWS = ("leaderboard", "scenario_scores")
_GROUP_SIZE = "model_count"
_KEY = ("model", "experiment")


def tagged_models(connection: duckdb.DuckDBPyConnection, tag: str) -> pl.DataFrame:
    """Every model and experiment with its value of a tag."""
    tags = frame_of(connection.sql("select * from main.model_tags"))
    if tag not in tags.columns:
        known = ", ".join(name for name in tags.columns if name not in _KEY)
        raise SelectionError(
            f"models have no tag {tag!r}, only {known or 'their names'}; see: orchbench tag"
        )
    scores = (connection.sql(f"from main.{view}").columns for view in TAGGED_VIEWS)
    if tag not in _KEY and tag.lower() in {_GROUP_SIZE}.union(*scores):
        raise SelectionError(f"{tag!r} is a column of scores as well; name the tag otherwise")
    return tags.select("model", "experiment", tag)


def refused_files(sources: pl.LazyFrame) -> pl.DataFrame:
    """How many scenario files of each model could not be read."""
    is_refused = (pl.col("status") == "refused") & (pl.col("reason") != "duplicate")
    return (
        sources.filter(is_refused, pl.col("kind") == "runs")
        .group_by("model", "experiment")
        .agg(pl.len().cast(pl.Int64).alias("refused_file_count"))
        .collect()
    )


def unanswered_models(problems: pl.DataFrame) -> set[tuple[str, str]]:
    """The models, with their experiments, that have a language without any answer."""
    return set(problems.filter("is_unanswered").select("model", "experiment").iter_rows())


def one_result(
    manifest: Manifest, model: str, experiment: str | None, language: str | None
) -> Result:
    """The one result that was asked for."""
    (result,) = results_of(manifest, model, experiment, language)
    return result


def results_of(
    manifest: Manifest,
    model: str,
    experiment: str | None,
    language: str | None,
    *,
    several: bool = False,
) -> list[Result]:
    """The result that was asked for; if several may be, one for each language."""
    known = sorted({Result(part.model, part.experiment, part.language) for part in manifest.parts})
    of_experiment = [result for result in known if experiment in (None, result.experiment)]
    named = find_contenders(model, sorted({result[:2] for result in of_experiment or known}))
    chosen = [
        result
        for result in of_experiment
        if result[:2] in named and (language is None or language.upper() == result.language.upper())
    ]
    is_one_experiment = len({result.experiment for result in chosen}) == 1
    if len(chosen) == 1 or (several and is_one_experiment):
        return chosen
    if chosen and is_one_experiment:
        languages = " or ".join(f"--language {result.language}" for result in chosen)
        raise SelectionError(
            f"{model} has several languages: add {languages}, or --output DIR for a file of each"
        )
    if chosen:
        there = "; ".join(f"--experiment {r.experiment} --language {r.language}" for r in chosen)
        raise SelectionError(f"there are several of {model}, choose one: {there}")
    places = ", ".join(f"{r.experiment} in {r.language}" for r in known if r[:2] in named)
    raise SelectionError(
        f"no such results of {model!r}: there are {places} (experiment and language)"
    )
