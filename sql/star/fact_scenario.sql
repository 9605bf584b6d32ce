-- The scores and counts of a scenario file under a profile; the metrics are formed from these.
-- grain: profile_sk, model_sk, scenario_sk
-- `score_scale`, `score_shift` and `undefined_score` carry two rules of the profile into the
-- formulas: rounding to four digits, or not at all, and what an undefined score is.
with

dated as (
    select
        *,
        try_cast(generated_at as timestamp) as generated_time
    from main.scenarios
)

select
    profile_key(profile) as profile_sk,
    model_key(model, experiment) as model_sk,
    scenario_key(language, scenario) as scenario_sk,
    case
        when year(dated.generated_time) between 1900 and 9999 then dated.generated_time
    end as document_made_at,
    scenario_scores.* exclude (profile, model, experiment, language, scenario),
    scenario_usage.usage_basis, scenario_usage.used_call_count,
    scenario_usage.used_input_token_count, scenario_usage.used_output_token_count,
    scenario_usage.used_token_count, scenario_usage.used_cost,
    cast(
        case when profiles.rounding = 'four_digits' then 10000 else 1 end as double
    ) as score_scale,
    cast(
        case when profiles.rounding = 'four_digits' then power(2, 52) else 0 end as double
    ) as score_shift,
    cast(case when profiles.undefined = 'zero' then 0 end as double) as undefined_score
from main.scenario_scores
inner join main.profiles using (profile)
left join dated using (model, experiment, language, scenario)
left join main.scenario_usage using (model, experiment, language, scenario)
