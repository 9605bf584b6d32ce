-- How well plans are made, by how many workflows the label has.
-- grain: profile, model, experiment, language, label_workflow_count
-- Means are over plans, each weighing the same and a failed one being 0; in the headline every
-- file weighs the same.
with

scored_plans as (
    select * from main.scored_plans
    where is_scored
),

summed as (
    select
        profile,
        model,
        experiment,
        language,
        label_workflow_count,
        count(*) as plan_count,
        count(*) filter (where is_failed) as failed_plan_count,
        count(*) filter (where not is_failed) as read_plan_count,
        count(*) filter (where plan_similarity = 1) as perfect_plan_count,
        sum(plan_similarity) as plan_similarity_sum,
        sum(structure_similarity) as structure_similarity_sum,
        sum(component_similarity) as component_similarity_sum
    from scored_plans
    group by profile, model, experiment, language, label_workflow_count
),

divided as (
    select
        *,
        failed_plan_count / nullif(plan_count, 0) as failed_plan_rate,
        perfect_plan_count / nullif(plan_count, 0) as perfect_plan_rate,
        plan_similarity_sum / nullif(plan_count, 0) as mean_plan_similarity,
        plan_similarity_sum / nullif(read_plan_count, 0) as mean_read_plan_similarity,
        structure_similarity_sum / nullif(plan_count, 0) as mean_structure_similarity,
        component_similarity_sum / nullif(plan_count, 0) as mean_component_similarity
    from summed
)

select * from divided
