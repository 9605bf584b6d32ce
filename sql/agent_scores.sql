-- How well the steps of an agent were decided and called.
-- grain: profile, model, experiment, language, agent_id
-- Counts are summed and divided last. The mean F1 scores are means over the agent's call-scored
-- steps, each weighing the same; the headline FC is a mean over files of means over runs.
with

scored_steps as (select * from main.scored_steps where is_scored),

summed as (
    select
        profile, model, experiment, language, agent_id,
        count(*) as scored_step_count,
        count(*) filter (where actual = 'call') as call_label_count,
        count(*) filter (where actual <> 'call') as rejection_label_count,
        total(true_positive_reject_count) as true_positive_reject_count,
        total(true_negative_reject_count) as true_negative_reject_count,
        total(false_positive_reject_count) as false_positive_reject_count,
        total(false_negative_reject_count) as false_negative_reject_count,
        total(true_positive_call_count) as true_positive_call_count,
        total(true_negative_call_count) as true_negative_call_count,
        total(false_positive_call_count) as false_positive_call_count,
        total(false_negative_call_count) as false_negative_call_count,
        count(*) filter (where is_type_mismatch) as type_mismatch_count,
        total(failed_generation_count) as failed_generation_count,
        count(*) filter (where is_call_scored) as call_scored_count,
        coalesce(exact_sum(name_f1), 0) as name_f1_sum,
        coalesce(exact_sum(key_f1), 0) as key_f1_sum,
        coalesce(exact_sum(value_f1), 0) as value_f1_sum
    from scored_steps
    group by profile, model, experiment, language, agent_id
),

totalled as (
    select
        *,
        true_positive_reject_count + true_negative_reject_count as right_decision_count
    from summed
),

divided as (
    select
        *,
        share(right_decision_count, scored_step_count) as decision_accuracy,
        precision_of(true_positive_reject_count, false_positive_reject_count) as reject_precision,
        recall_of(true_positive_reject_count, false_negative_reject_count) as reject_recall,
        coalesce(
            f1(
                true_positive_reject_count, false_positive_reject_count, false_negative_reject_count
            ),
            case when rejection_label_count > 0 then 0.0 end
        ) as reject_f1,
        precision_of(true_positive_call_count, false_positive_call_count) as call_precision,
        recall_of(true_positive_call_count, false_negative_call_count) as call_recall,
        f1(true_positive_call_count, false_positive_call_count, false_negative_call_count)
            as call_f1,
        share(name_f1_sum, call_scored_count) as mean_name_f1,
        share(key_f1_sum, call_scored_count) as mean_key_f1,
        share(value_f1_sum, call_scored_count) as mean_value_f1,
        share(
            name_f1_sum + key_f1_sum + value_f1_sum, 3 * call_scored_count
        ) as mean_function_call_f1
    from totalled
)

select * from divided
