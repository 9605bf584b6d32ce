-- The tools that a scored step wanted, called, or both.
-- grain: profile, model, experiment, language, scenario, run, step_id, answer_position, tool
-- Only an answer that was read as a call has called its tools.
with

list_items as (
    select * from main.list_items
),

scored_steps as (
    select * from main.scored_steps
    where is_scored
),

labelled as (
    select
        scored_steps.profile,
        scored_steps.model,
        scored_steps.experiment,
        scored_steps.language,
        scored_steps.scenario,
        scored_steps.run,
        scored_steps.step_id,
        scored_steps.answer_position,
        scored_steps.actual,
        scored_steps.predicted,
        list_items.item as tool,
        1 as label_count,
        0 as answer_count
    from scored_steps
    inner join list_items on scored_steps.label_tools = list_items.list_text
),

answered as (
    select
        scored_steps.profile,
        scored_steps.model,
        scored_steps.experiment,
        scored_steps.language,
        scored_steps.scenario,
        scored_steps.run,
        scored_steps.step_id,
        scored_steps.answer_position,
        scored_steps.actual,
        scored_steps.predicted,
        list_items.item as tool,
        0 as label_count,
        1 as answer_count
    from scored_steps
    inner join list_items on scored_steps.answer_tools = list_items.list_text
    where scored_steps.predicted = 'call'
),

both_sides as (
    select * from labelled
    union all
    select * from answered
),

merged as (
    select
        profile,
        model,
        experiment,
        language,
        scenario,
        run,
        step_id,
        answer_position,
        tool,
        actual,
        predicted,
        max(label_count) > 0 as is_labelled,
        max(answer_count) > 0 as is_answered
    from both_sides
    group by
        profile,
        model,
        experiment,
        language,
        scenario,
        run,
        step_id,
        answer_position,
        tool,
        actual,
        predicted
)

select * from merged
