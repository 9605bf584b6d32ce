-- What is wrong with the plans that could be read: edits on the way to the label, by kind.
-- grain: profile, model, experiment, language, graph, kind
-- A plan that could not be read has no edits and counts in `failure_reasons`. A kind that never
-- occurs has no row.
with

scored_plans as (select * from main.scored_plans where is_scored and not is_failed),
plan_edits as (select * from main.plan_edits),

plans as (
    select
        profile, model, experiment, language,
        count(*) as read_plan_count
    from scored_plans
    group by profile, model, experiment, language
),

edits_by_plan as (
    select
        profile, model, experiment, language, graph, kind,
        count(*) as edit_count,
        sum(to_units(cost)) as edit_cost_units
    from plan_edits
    group by
        profile, model, experiment, language, scenario, run, step_id, answer_position, graph, kind
),

summed as (
    select
        profile, model, experiment, language, graph, kind,
        total(edit_count) as edit_count,
        from_units(sum(edit_cost_units)) as edit_cost,
        count(*) as edited_plan_count
    from edits_by_plan
    group by profile, model, experiment, language, graph, kind
),

totalled as (
    select
        summed.*,
        from_units(
            sum(to_units(summed.edit_cost)) over (
                partition by
                    summed.profile, summed.model, summed.experiment, summed.language, summed.graph
            )
        ) as graph_edit_cost,
        plans.read_plan_count
    from summed
    inner join plans using (profile, model, experiment, language)
),

divided as (
    select
        *,
        share(edited_plan_count, read_plan_count) as edited_plan_rate,
        share(edit_count, read_plan_count) as mean_edit_count,
        share(edit_cost, read_plan_count) as mean_edit_cost,
        share(edit_cost, graph_edit_cost) as edit_cost_share
    from totalled
)

select * from divided
