"""The leaderboard, formed from facts alone by the formulas that an export emits."""

from orchbench_analytics.metrics import HEADLINE, METRICS

_LEADERBOARD = """
select profile, model, experiment, {means}
from (
    select fact_scenario.profile_sk, fact_scenario.model_sk, dim_scenario.language, {formulas}
    from fact_scenario
    inner join dim_scenario on fact_scenario.scenario_sk = dim_scenario.scenario_sk
    group by fact_scenario.profile_sk, fact_scenario.model_sk, dim_scenario.language
) as by_language
inner join dim_profile on by_language.profile_sk = dim_profile.profile_sk
inner join dim_model on by_language.model_sk = dim_model.model_sk
group by profile, model, experiment
order by profile, model, experiment
"""
_MODELS = """
select profile, model, experiment, language, {formulas}
from fact_scenario
inner join dim_scenario on fact_scenario.scenario_sk = dim_scenario.scenario_sk
inner join dim_profile on fact_scenario.profile_sk = dim_profile.profile_sk
inner join dim_model on fact_scenario.model_sk = dim_model.model_sk
group by profile, model, experiment, language
order by profile, model, experiment, language
"""


def leaderboard_query(formulas: dict[str, str]) -> str:
    """The headline figures of every model."""
    return _LEADERBOARD.format(
        means=", ".join(f"avg({name}) as {name}" for name in HEADLINE),
        formulas=", ".join(f"{formulas[name]} as {name}" for name in HEADLINE),
    )


def model_query(formulas: dict[str, str]) -> str:
    """Every metric of every model and language."""
    return _MODELS.format(formulas=", ".join(f"{formulas[name]} as {name}" for name in METRICS))
