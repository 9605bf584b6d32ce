-- How well plans are made, by how many workflows the label has.
-- grain: profile, model, experiment, language, label_workflow_count
-- Means are over plans, each weighing the same and a failed one being 0; in the headline every
-- file weighs the same.
with

scored_plans as (select * from main.scored_plans where is_scored),

summed as (
    select
        profile, model, experiment, language, label_workflow_count,
        count(*) as plan_count,
        count(*) filter (where is_failed) as failed_plan_count,
        count(*) filter (where not is_failed) as read_plan_count,
        count(*) filter (where plan_similarity = 1) as perfect_plan_count,
        exact_sum(plan_similarity) as plan_similarity_sum,
        exact_sum(structure_similarity) as structure_similarity_sum,
        exact_sum(component_similarity) as component_similarity_sum
    from scored_plans
    group by profile, model, experiment, language, label_workflow_count
),

divided as (
    select
        *,
        share(failed_plan_count, plan_count) as failed_plan_rate,
        share(perfect_plan_count, plan_count) as perfect_plan_rate,
        share(plan_similarity_sum, plan_count) as mean_plan_similarity,
        share(plan_similarity_sum, read_plan_count) as mean_read_plan_similarity,
        share(structure_similarity_sum, plan_count) as mean_structure_similarity,
        share(component_similarity_sum, plan_count) as mean_component_similarity
    from summed
)

select * from divided
