-- What the label and the answer of a step say, in full.
-- grain: step_sk
select
    entry_key(model, experiment, language, scenario, run, step_id, answer_position) as step_sk,
    model_key(model, experiment) as model_sk,
    label_content, answer_content,
    readable_calls(label_calls) as label_call_text,
    readable_calls(answer_calls) as answer_call_text,
    label_calls, answer_calls
from main.steps
