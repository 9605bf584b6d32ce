-- The scenarios of each language, with how hard they are under `spec`, or else the first profile.
-- grain: scenario_sk
with

scenario_scores as (select * from main.scenario_scores),
scenario_difficulties as (select * from main.scenario_difficulties),

chosen as (
    select coalesce(max(profile) filter (where profile = 'spec'), min(profile)) as profile
    from scenario_scores
),

difficulties as (
    select scenario_difficulties.*
    from scenario_difficulties
    inner join chosen using (profile)
),

known as (
    select distinct language, scenario
    from scenario_scores
),

keyed as (
    select
        scenario_key(language, scenario) as scenario_sk,
        language, scenario,
        try_cast(regexp_extract(scenario, '[0-9]+') as bigint) as scenario_number,
        difficulties.attempt_count, difficulties.mean_scenario_score, difficulties.score_deviation,
        difficulties.discrimination, difficulties.is_dead, difficulties.is_suspicious
    from known
    left join difficulties using (language, scenario)
)

select * from keyed
