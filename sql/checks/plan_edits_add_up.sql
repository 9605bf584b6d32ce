-- The costs of a plan's edits add up to its two distances, where those are true distances.
with

edits as (
    select
        profile, model, experiment, language, scenario, run, step_id,
        sum(cost) as cost
    from main.plan_edits
    group by profile, model, experiment, language, scenario, run, step_id
),

plans as (
    select
        scored_plans.profile, scored_plans.model, scored_plans.experiment, scored_plans.language,
        scored_plans.scenario, scored_plans.run, scored_plans.step_id,
        scored_plans.structure_distance + scored_plans.component_distance as distance
    from main.scored_plans as scored_plans
    inner join main.profiles as profiles using (profile)
    where
        scored_plans.is_scored
        and not scored_plans.is_failed
        and scored_plans.is_ged_exact
        and profiles.distance = 'exact'
        and profiles.lone_self_loop = 'counted'
)

select
    profile, model, experiment, language, scenario,
    'costs of plan edits, ' || run || ', step ' || step_id as figure,
    plans.distance as expected,
    coalesce(edits.cost, 0) as found
from plans
left join edits using (profile, model, experiment, language, scenario, run, step_id)
where abs(plans.distance - coalesce(edits.cost, 0)) > 1e-9
