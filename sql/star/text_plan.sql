-- What the label and the answer of a planning step say, in full.
-- grain: plan_sk
select
    entry_key(model, experiment, language, scenario, run, step_id, answer_position) as plan_sk,
    model_key(model, experiment) as model_sk,
    label_content, answer_content
from main.plans
