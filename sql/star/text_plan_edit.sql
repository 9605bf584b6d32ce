-- What an edit of a plan is about, and what the label and the answer have there.
-- grain: profile_sk, plan_sk, edit_kind_sk, edit_number
select
    profile_key(profile) as profile_sk,
    entry_key(model, experiment, language, scenario, run, step_id, answer_position) as plan_sk,
    surrogate_key([graph, kind]) as edit_kind_sk,
    edit_number,
    model_key(model, experiment) as model_sk,
    subject, wanted, given
from main.plan_edits
