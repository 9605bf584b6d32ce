-- The values of an argument on both sides, as they were compared under a profile.
-- grain: profile_sk, step_sk, argument_sk
select
    profile_key(profile) as profile_sk,
    entry_key(model, experiment, language, scenario, run, step_id, answer_position) as step_sk,
    surrogate_key([argument_key]) as argument_sk,
    model_key(model, experiment) as model_sk,
    label_values, answer_values
from main.scored_arguments
