-- How often each label was answered with each decision: call, a type of rejection, or failed.
-- grain: profile, model, experiment, language, actual, predicted
-- A cell that never occurs has no row.
with

scored_steps as (select * from main.scored_steps where is_scored),

cells as (
    select
        profile, model, experiment, language, actual, predicted,
        count(*) as step_count
    from scored_steps
    group by profile, model, experiment, language, actual, predicted
),

totalled as (
    select
        *,
        cast(
            sum(step_count) over (partition by profile, model, experiment, language, actual)
            as bigint
        ) as actual_step_count,
        cast(
            sum(step_count) over (partition by profile, model, experiment, language, predicted)
            as bigint
        ) as predicted_step_count
    from cells
),

divided as (
    select
        *,
        share(step_count, actual_step_count) as actual_share,
        share(step_count, predicted_step_count) as predicted_share
    from totalled
)

select * from divided
