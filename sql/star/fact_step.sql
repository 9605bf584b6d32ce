-- The decision of a step or answer under a profile, and how well its call matches.
-- grain: profile_sk, step_sk
select
    profile_key(profile) as profile_sk,
    entry_key(model, experiment, language, scenario, run, step_id, answer_position) as step_sk,
    model_key(model, experiment) as model_sk,
    scenario_key(language, scenario) as scenario_sk,
    surrogate_key([run]) as run_sk,
    surrogate_key([coalesce(agent_id, '(none)')]) as agent_sk,
    * exclude (
        profile, model, experiment, language, scenario, run,
        agent_id, label_tools, answer_tools
    )
from main.scored_steps
