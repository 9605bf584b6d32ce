-- The scenarios of each language, with how hard they are under `spec`, or else the first profile.
-- grain: scenario_sk
with

chosen as (
    select coalesce(max(profile) filter (where profile = 'spec'), min(profile)) as profile
    from main.scenario_scores
),

difficulties as (
    select scenario_difficulties.*
    from main.scenario_difficulties
    inner join chosen using (profile)
),

known as (
    select distinct language, scenario
    from main.scenario_scores
)

select
    scenario_key(language, scenario) as scenario_sk,
    language, scenario,
    try_cast(regexp_extract(scenario, '[0-9]+') as bigint) as scenario_number,
    difficulties.attempt_count, difficulties.mean_scenario_score, difficulties.score_deviation,
    difficulties.discrimination, difficulties.is_dead, difficulties.is_suspicious
from known
left join difficulties using (language, scenario)
