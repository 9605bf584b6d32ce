-- How alike the plans of a scenario file are to their labels.
-- grain: profile, model, experiment, language, scenario
with

profiles as (
    select * from main.profiles
),

scored_plans as (
    select * from main.scored_plans
),

summed as (
    select
        profile,
        model,
        experiment,
        language,
        scenario,
        count(*) filter (where is_scored) as plan_count,
        count(*) filter (where is_scored and is_failed) as failed_plan_count,
        cast(sum(failed_generation_count) as bigint) as failed_plan_generation_count,
        exact_sum(plan_similarity) as plan_similarity_sum,
        exact_sum(structure_similarity) as structure_similarity_sum,
        exact_sum(component_similarity) as component_similarity_sum,
        count(*) filter (where is_scored and not is_ged_exact) as inexact_plan_count,
        count(*) filter (where not is_scored) as left_out_plan_count
    from scored_plans
    group by profile, model, experiment, language, scenario
),

ruled as (
    select
        summed.*,
        case
            when profiles.failed_plan = 'per_entry'
                then summed.plan_count + summed.failed_plan_generation_count
            else summed.plan_count
        end as plan_with_failure_count,
        case
            when profiles.without_failure = 'includes_failed' then summed.plan_count
            else summed.plan_count - summed.failed_plan_count
        end as plan_without_failure_count
    from summed
    inner join profiles using (profile)
),

divided as (
    select
        *,
        share(plan_similarity_sum, plan_with_failure_count) as plan_similarity,
        share(plan_similarity_sum, plan_without_failure_count) as read_plan_similarity,
        share(structure_similarity_sum, plan_count) as structure_similarity,
        share(component_similarity_sum, plan_count) as component_similarity
    from ruled
)

select * from divided
