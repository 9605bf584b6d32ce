-- How well an argument of a call-scored step matches under a profile.
-- grain: profile_sk, step_sk, argument_sk
with

keyed as (
    select
        profile_key(profile) as profile_sk,
        entry_key(model, experiment, language, scenario, run, step_id, answer_position) as step_sk,
        surrogate_key([argument_key]) as argument_sk,
        true_positive_count, false_positive_count, false_negative_count, decided_by
    from main.scored_arguments
)

select
    keyed.*,
    fact_step.model_sk, fact_step.scenario_sk, fact_step.run_sk, fact_step.agent_sk
from keyed
inner join main.fact_step using (profile_sk, step_sk)
