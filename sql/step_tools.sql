-- The tools that a scored step wanted, called, or both.
-- grain: profile, model, experiment, language, scenario, run, step_id, answer_position, tool
-- Only an answer that was read as a call has called its tools.
with

list_items as (select * from main.list_items),
scored_steps as (select * from main.scored_steps where is_scored),

sides as (
    select
        *,
        label_tools as list_text,
        1 as label_count,
        0 as answer_count
    from scored_steps
    union all
    select
        *,
        answer_tools as list_text,
        0 as label_count,
        1 as answer_count
    from scored_steps
    where predicted = 'call'
),

merged as (
    select
        profile, model, experiment, language, scenario, run, step_id, answer_position,
        item as tool,
        step_key, actual, predicted,
        max(label_count) > 0 as is_labelled,
        max(answer_count) > 0 as is_answered
    from sides
    inner join list_items using (list_text)
    group by
        profile, model, experiment, language, scenario, run, step_id, answer_position, step_key,
        item, actual, predicted
)

select * from merged
