"""The tables of the report: the core that opens with the page, and a piece for each section.

Every figure is computed here, in SQL or by the statistics; the page picks rows and shows them. A
row with the language '' is over all languages, one with the model '' over all models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

import polars as pl

from orchbench_analytics.metrics import HEADLINE, MEAN_OF_LANGUAGES, METRICS
from orchbench_analytics.pages.columns import columns_of, heads, heads_of
from orchbench_analytics.pages.findings import findings
from orchbench_analytics.pages.source import Source
from orchbench_analytics.pages.words import words
from orchbench_analytics.schema import Table
from orchbench_analytics.stats.compare import compare_each_pair, compare_models
from orchbench_analytics.stats.consistency import (
    flips_of,
    pass_rates_of,
    read_answers,
    run_counts_of,
    run_noise_of,
    tally,
)
from orchbench_analytics.stats.intervals import intervals
from orchbench_analytics.stats.ranks import rank_intervals, unanswered_models
from orchbench_analytics.tables.statistics import COMPARISONS, FLIPS, PASS_RATES, RUN_NOISE

# All pairs of so many models are compared; of more, a command compares the two that are asked for.
MOST_PAIRED_MODELS = 40
_CONTENDER = ["profile", "model", "experiment"]
_BOARD = """
select
    profile, language, rank_number, model, experiment, average_score, call_rejection_f1,
    function_call_f1, workflow_similarity, coverage, scenario_count, sweep_scenario_count,
    file_count, refused_file_count, rank_status
from main.language_ranks
order by profile, language, rank_number nulls last, average_score desc nulls last, model, experiment
"""
_METRICS = f"""
select profile, language, model, experiment, {", ".join(METRICS)}
from main.model_scores
union all
select
    profile, '{MEAN_OF_LANGUAGES}' as language, model, experiment,
    {", ".join(f"exact_mean({metric}) as {metric}" for metric in METRICS)}
from main.model_scores
group by profile, model, experiment
order by profile, language, average_score desc nulls last, model, experiment
"""


def _pooled(view: str, by: str, figures: str, *, of_all_models: bool = False) -> str:
    """A query that sums up a view for each model, in each language and over all of them.

    If wanted, it also does for all models together.
    """
    groups = [f"language, model, experiment, {by}", f"model, experiment, {by}"]
    model = "model, experiment"
    if of_all_models:
        groups += [f"language, {by}", by]
        model = "coalesce(model, '') as model, coalesce(experiment, '') as experiment"
    sets = ", ".join(f"(profile, {group})" for group in groups)
    return (
        f"select profile, coalesce(language, '') as language, {model}, {by}, {figures} "
        f"from {view} group by grouping sets ({sets})"
    )


def _totals(*columns: str) -> str:
    return ", ".join(f"total({column}) as {column}" for column in columns)


_CELLS = _pooled(
    "main.confusion_matrix", "actual, predicted", _totals("step_count"), of_all_models=True
)
_CONFUSION = f"""
select
    *,
    share(step_count, sum(step_count) over (
        partition by profile, language, model, experiment, actual
    )) as actual_share,
    actual = predicted or (actual = 'rejection' and predicted not in ('call', 'failed')) as is_right
from ({_CELLS})
order by all
"""
_PATTERN_FIGURES = f"""
    {_totals("occurrence_count", "opportunity_count")},
    share(sum(occurrence_count), sum(opportunity_count)) as occurrence_rate
"""
_PATTERNS = f"{_pooled('main.error_patterns', 'error_pattern', _PATTERN_FIGURES)} order by all"
_FAILURES = f"""
{_pooled("main.failure_reasons", "unit, failure_reason", _totals("failure_count"))}
order by profile, language, model, experiment, unit desc, failure_reason
"""
_TOOL_FIGURES = f"""
    {_totals("labelled_step_count", "tool_false_positive_count")},
    share(sum(tool_true_positive_count), sum(labelled_step_count)) as tool_recall,
    f1(
        sum(value_true_positive_count), sum(value_false_positive_count),
        sum(value_false_negative_count)
    ) as value_micro_f1
"""
_TOOLS = f"""
{_pooled("main.tool_scores", "tool", _TOOL_FIGURES, of_all_models=True)}
having sum(labelled_step_count) > 0
order by profile, language, model, experiment, tool_recall, tool
"""
_ARGUMENT_FIGURES = f"""
    {_totals("argument_count", "key_false_negative_count", "key_false_positive_count")},
    {_totals("value_false_negative_count", "value_false_positive_count")},
    recall_of(sum(value_true_positive_count), sum(value_false_negative_count)) as value_recall
"""
_ARGUMENT = "argument_key, label_tools"
_ARGUMENTS = f"""
{_pooled("main.argument_scores", _ARGUMENT, _ARGUMENT_FIGURES, of_all_models=True)}
order by
    profile, language, model, experiment, value_false_negative_count desc, argument_key, label_tools
"""
_EDIT_FIGURES = f"{_totals('edited_plan_count', 'edit_count')}, exact_sum(edit_cost) as edit_cost"
_EDIT_KINDS = f"""
with found as materialized (
    from main.plan_error_kinds
),
plans as (
    select
        profile, coalesce(language, '') as language, model, experiment,
        sum(read_plan_count) as read_plan_count
    from (
        select distinct profile, language, model, experiment, read_plan_count
        from found
    )
    group by grouping sets (
        (profile, language, model, experiment), (profile, model, experiment)
    )
),
edits as ({_pooled("found", "kind", _EDIT_FIGURES)})
select edits.*, share(edit_cost, read_plan_count) as mean_edit_cost
from edits
inner join plans using (profile, language, model, experiment)
order by profile, language, model, experiment, edit_cost desc, kind
"""
_SIZED = "(from main.plan_size_scores where label_workflow_count is not null)"
_SIZE_FIGURES = f"""
    {_totals("plan_count")},
    share(exact_sum(plan_similarity_sum), sum(plan_count)) as mean_plan_similarity
"""
_PLAN_SIZES = f"""
{_pooled(_SIZED, "label_workflow_count", _SIZE_FIGURES)}
order by profile, language, model, experiment, label_workflow_count
"""
_COSTS = """
select
    profile, language, model, experiment, average_score, mean_run_cost, mean_run_tokens, used_cost,
    used_token_count, least_cost, least_token_count, usage_basis, doubtful_usage_file_count,
    is_pareto_optimal
from main.score_costs
order by profile, language, average_score desc nulls last, model, experiment
"""
_DIFFICULTIES = """
select
    profile, language, scenario, mean_scenario_score, least_score, greatest_score, discrimination,
    attempt_count, mean_scenario_score < 0.5 as is_hard, coalesce(is_dead, false) as is_dead,
    coalesce(is_suspicious, false) as is_suspicious,
    coalesce(discrimination < 0, false) as is_contrary
from main.scenario_difficulties
order by profile, language, mean_scenario_score, scenario
"""
_SCENARIO_SCORES = """
select profile, language, scenario, model, experiment, scenario_score
from main.scenario_means
order by profile, language, scenario, scenario_score desc nulls last, model, experiment
"""
_SIZE = """
select
    profile,
    count(distinct (language, scenario)) as scenarios, count(distinct language) as languages,
    string_agg(distinct language, ', ' order by language) as language_names,
    max(run_count) as most_runs, min(run_count) as least_runs
from main.scenario_scores
group by profile
"""

# The benchmark itself writes the seconds of an event loop, which say nothing about the date.
_LATEST = r"""
select max(generated_at) as latest from main.scenarios
where regexp_matches(generated_at, '^\d{4}-\d\d-\d\d')
"""
_STEPS_AT_ONCE = 80_000  # of consistency, which needs few columns of them

Piece = dict[str, Any]


def core(source: Source) -> Piece:
    """What every screen needs: the models, the words, and what the sweep is."""
    found = source.queries(
        {
            "scenario_scores": _SIZE,
            "scenarios": _LATEST,
            "model_tags": "from main.model_tags order by all",
        },
        is_pooled=True,
    )
    tags = found["model_tags"]
    models = pl.DataFrame(source.models, schema=["model", "experiment"], orient="row")
    return {
        "version": version("orchbench-analytics"),
        "warehouse": source.root.absolute().name,
        "profiles": list(source.profiles),
        "profiles_without_answers": [
            name for name, profile in source.profiles.items() if profile.scored_from == "results"
        ],
        "words": words(source.profiles),
        "heads": heads() | heads_of(tags.columns),
        "most_paired_models": MOST_PAIRED_MODELS,
        "size": _size(found["scenario_scores"], found["scenarios"], next(iter(source.profiles))),
        "models": columns_of(models),
        "tags": columns_of(tags),
    }


def boards(source: Source) -> list[Piece]:
    """The first screen of each profile: its leaderboard with what it says; and all metrics."""
    found = source.queries(
        {
            "model_problems": "from main.model_problems",
            "expected_scenarios": "from main.expected_scenarios",
            "scenario_clusters": "from main.scenario_clusters",
            "language_ranks": _BOARD,
            "model_scores": _METRICS,
        }
    )
    scores = source.scenario_scores()
    clusters, asked = found["scenario_clusters"], found["expected_scenarios"]
    silent = unanswered_models(found["model_problems"])
    spans = intervals(scores, metrics=HEADLINE, clusters=clusters, expected=asked)
    ranks = rank_intervals(scores, clusters=clusters, expected=asked, unanswered=silent)
    spans, ranks = source.only(spans), source.only(ranks)
    rows = _board(found["language_ranks"], spans, ranks)
    said = findings(source, rows)
    shown = spans.select(*_CONTENDER, "language", "metric", "low", "high").sort(pl.all())
    return [
        {
            "findings": said[profile],
            "board": columns_of(rows.filter(profile=profile), is_exact=True),
            "metrics": columns_of(found["model_scores"].filter(profile=profile)),
            "intervals": columns_of(shown.filter(profile=profile)),
        }
        for profile in source.profiles
    ]


def _board(rows: pl.DataFrame, spans: pl.DataFrame, ranks: pl.DataFrame) -> pl.DataFrame:
    """The ranks of each language and of their mean, with intervals; ranks and tiers of the mean."""
    key = [*_CONTENDER, "language"]
    averages = spans.filter(metric=HEADLINE[0]).select(*key, "low", "high")
    of_mean = ranks.select(
        *_CONTENDER, "rank_low", "rank_high", "tier_number", "unranked_reason",
        pl.lit(MEAN_OF_LANGUAGES).alias("language"), low_ranked="low", high_ranked="high",
    )  # fmt: skip
    joined = rows.join(averages, on=key, how="left", maintain_order="left").join(
        of_mean, on=key, how="left", maintain_order="left"
    )
    low, high = pl.coalesce("low_ranked", "low"), pl.coalesce("high_ranked", "high")
    first = ("profile", "language", "rank_number", "rank_low", "rank_high", "tier_number")
    return joined.with_columns(low=low, high=high).select(
        *first, pl.exclude(*first, "low_ranked", "high_ranked")
    )


def _size(sizes: pl.DataFrame, latest: pl.DataFrame, profile: str) -> dict[str, Any]:
    """How many scenarios, languages and runs a profile scores, of the report's models."""
    said = latest["latest"].cast(pl.String).item()
    return sizes.filter(profile=profile).drop("profile").row(0, named=True) | {
        "latest": said[:16].replace("T", " ") if said else None
    }


def consistency(source: Source) -> Piece:
    """How steady models are from run to run."""
    found: dict[Table, list[pl.DataFrame]] = {FLIPS: [], PASS_RATES: [], RUN_NOISE: []}
    counts = []
    for batch in source.batches(_STEPS_AT_ONCE):
        answers = read_answers(batch.scored("scored_steps"), batch.scored("scored_plans"))
        tallies = tally(answers)
        # A file of scores may also hold models of another batch.
        found[FLIPS].append(batch.only(flips_of(tallies)))
        found[PASS_RATES].append(batch.only(pass_rates_of(tallies)))
        counts.append(batch.only(run_counts_of(answers)))
    found[RUN_NOISE].append(run_noise_of(pl.concat(counts), metrics=HEADLINE[:1]))
    order = [*_CONTENDER, "language"]
    return {
        table.name: columns_of(pl.concat(rows).sort(order, maintain_order=True), table=table)
        for table, rows in found.items()
    }


def comparisons(source: Source) -> Piece:
    """Each pair of models as `compare` has it, and all pairs at once, if there are not too many."""
    if not 2 <= len(source.models) <= MOST_PAIRED_MODELS:
        return {}
    scores, clusters = source.only(source.scenario_scores()), source.clusters()
    languages = {MEAN_OF_LANGUAGES: scores} | {
        name: scores.filter(language=name) for name in sorted({*scores["language"]})
    }
    at_once = [
        compare_models(part, clusters=clusters).with_columns(language=pl.lit(language))
        for language, part in languages.items()
    ]
    return {
        "pairs": columns_of(compare_each_pair(scores, clusters=clusters), table=COMPARISONS),
        "all_pairs": columns_of(pl.concat(at_once), table=COMPARISONS),
    }


def compared_pair(source: Source, first: int, second: int) -> Piece:
    """Two models, by their numbers, as `compare` has them."""
    own = source.some([first, second])
    pair = compare_each_pair(own.only(own.scenario_scores()), clusters=source.clusters())
    return {"pairs": columns_of(pair, table=COMPARISONS)}


def audited(changes: pl.DataFrame, source: Source) -> Piece:
    """What each scoring rule does to each model, from an audit."""
    columns = ["rule", "rule_from", "rule_to", "model", "experiment", "rank_change"]
    columns += [f"{metric}_change" for metric in HEADLINE]
    rows = source.only(changes)
    return {"rules": columns_of(rows.select(name for name in columns if name in rows.columns))}


def _queried(source: Source, *, is_pooled: bool = False, **queries: str) -> Piece:
    """A section of tables that are the rows of queries."""
    found = source.queries(queries, is_pooled=is_pooled)
    return {name: columns_of(rows) for name, rows in found.items()}


_POOLED = partial(_queried, is_pooled=True)
# Those that take longest come first.
SECTIONS: Mapping[str, Callable[[Source], Piece]] = {
    "comparisons": comparisons,
    "consistency": consistency,
    "arguments": partial(_POOLED, arguments=_ARGUMENTS),
    "tools": partial(_POOLED, tools=_TOOLS),
    "scenarios": partial(_queried, difficulties=_DIFFICULTIES),
    "scenario_scores": partial(_queried, scores=_SCENARIO_SCORES),
    "decisions": partial(_POOLED, confusion=_CONFUSION, patterns=_PATTERNS, failures=_FAILURES),
    "plans": partial(_queried, kinds=_EDIT_KINDS, sizes=_PLAN_SIZES),
    "costs": partial(_queried, costs=_COSTS),
    "core": core,
}
