-- The distances of a plan from its label under a profile.
-- grain: profile_sk, plan_sk
select
    profile_key(profile) as profile_sk,
    entry_key(model, experiment, language, scenario, run, step_id, answer_position) as plan_sk,
    model_key(model, experiment) as model_sk,
    scenario_key(language, scenario) as scenario_sk,
    surrogate_key([run]) as run_sk,
    * exclude (profile, model, experiment, language, scenario, run)
from main.scored_plans
