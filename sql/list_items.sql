-- The items of the JSON lists that other views take apart: tool names, and values that were judged.
-- grain: list_text, item
-- Taking a JSON list apart is the one thing engines do not agree on, so it is done only here: Spark
-- has `from_json` in place of the cast, Postgres `json_array_elements_text`.
with

scored_steps as (select * from main.scored_steps),
judged_arguments as (select * from main.scored_arguments where decided_by = 'judge'),

lists as (
    select label_tools as list_text from scored_steps
    union
    select answer_tools as list_text from scored_steps
    union
    select label_values as list_text from judged_arguments
    union
    select answer_values as list_text from judged_arguments
),

taken_apart as (
    select
        list_text,
        unnest(cast(cast(list_text as json) as varchar[])) as item
    from lists
    where list_text is not null
),

items as (
    select distinct list_text, item
    from taken_apart
)

select * from items
