-- One score for a scenario file, for comparing scenarios with each other.
-- grain: profile, model, experiment, language, scenario
-- The score is the mean of the parts that the file has labels for: decision accuracy, FC (mean of
-- name, key and value F1) and plan similarity; null where there is none, in every profile.
-- It is not the headline metric, in which decisions are pooled over files before dividing.
with

scenario_scores as (select * from main.scenario_scores),

parts as (
    select
        profile, model, experiment, language, scenario,
        true_positive_reject_count + true_negative_reject_count as right_decision_count,
        call_label_count + rejection_label_count as scored_step_count,
        share(
            true_positive_reject_count + true_negative_reject_count,
            call_label_count + rejection_label_count
        ) as decision_accuracy,
        case when call_label_count > 0 then (name_f1 + key_f1 + value_f1) / 3 end as file_call_f1,
        case when plan_count > 0 then plan_similarity end as plan_similarity
    from scenario_scores
),

summed as (
    select
        *,
        coalesce(decision_accuracy, 0)
        + coalesce(file_call_f1, 0)
        + coalesce(plan_similarity, 0) as part_sum,
        case when decision_accuracy is null then 0 else 1 end
        + case when file_call_f1 is null then 0 else 1 end
        + case when plan_similarity is null then 0 else 1 end as part_count
    from parts
),

divided as (
    select
        *,
        share(part_sum, part_count) as scenario_score
    from summed
)

select * from divided
