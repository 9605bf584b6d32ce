-- A tool that a scored step wanted, called, or both, under a profile.
-- grain: profile_sk, step_sk, tool_sk
with

keyed as (
    select
        profile_key(profile) as profile_sk,
        entry_key(model, experiment, language, scenario, run, step_id, answer_position) as step_sk,
        surrogate_key([tool]) as tool_sk,
        actual, predicted, is_labelled, is_answered,
        cast(is_labelled and is_answered as bigint) as true_positive_count,
        cast(is_answered and not is_labelled as bigint) as false_positive_count,
        cast(is_labelled and not is_answered as bigint) as false_negative_count
    from main.step_tools
)

select
    keyed.*,
    fact_step.model_sk, fact_step.scenario_sk, fact_step.run_sk, fact_step.agent_sk
from keyed
inner join main.fact_step using (profile_sk, step_sk)
