-- An edit on the way from an answered plan to the gold one, under a profile.
-- grain: profile_sk, plan_sk, edit_kind_sk, edit_number
select
    profile_key(profile) as profile_sk,
    entry_key(model, experiment, language, scenario, run, step_id, answer_position) as plan_sk,
    surrogate_key([graph, kind]) as edit_kind_sk,
    edit_number,
    model_key(model, experiment) as model_sk,
    scenario_key(language, scenario) as scenario_sk,
    surrogate_key([run]) as run_sk,
    cost
from main.plan_edits
