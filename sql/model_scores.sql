-- The scores of a model in a language: the seed's `overall_statistics`.
-- grain: profile, model, experiment, language
-- Counts are summed over files and divided last; call and plan scores are means over files, in
-- which every file weighs the same, as the benchmark defines them.
with

profiles as (select * from main.profiles),
scenario_scores as (select * from main.scenario_scores),
sources as (select * from main.sources),
reported_scenarios as (select * from main.reported_scenarios),

refused_files as (
    select
        'answers' as scored_from,
        model, experiment, language,
        count(*) as refused_file_count
    from sources
    where kind = 'runs' and status = 'refused' and reason <> 'duplicate'
    group by model, experiment, language
    union all
    select
        'results' as scored_from,
        model, experiment, language,
        count(*) as refused_file_count
    from reported_scenarios
    where figure = 'error'
    group by model, experiment, language
),

summed as (
    select
        profile, model, experiment, language,
        count(*) as scored_file_count,
        total(run_count) as run_count,
        total(call_label_count) as call_label_count,
        total(rejection_label_count) as rejection_label_count,
        total(call_scored_count) as call_scored_count,
        total(call_case_count) as call_case_count,
        total(rejection_case_count) as rejection_case_count,
        total(true_positive_reject_count) as true_positive_reject_count,
        total(true_negative_reject_count) as true_negative_reject_count,
        total(false_positive_reject_count) as false_positive_reject_count,
        total(false_negative_reject_count) as false_negative_reject_count,
        total(true_positive_call_count) as true_positive_call_count,
        total(true_negative_call_count) as true_negative_call_count,
        total(false_positive_call_count) as false_positive_call_count,
        total(false_negative_call_count) as false_negative_call_count,
        total(type_mismatch_count) as seen_type_mismatch_count,
        total(failed_generation_count) as seen_failed_generation_count,
        total(plan_count) as plan_count,
        total(failed_plan_count) as failed_plan_count,
        total(failed_plan_generation_count) as failed_plan_generation_count,
        total(inexact_plan_count) as inexact_plan_count,
        total(left_out_plan_count) as left_out_plan_count,
        total(unusable_label_count) as unusable_label_count,
        total(surplus_answer_count) as surplus_answer_count,
        total(unlabelled_answer_count) as unlabelled_answer_count,
        total(unanswered_step_count) as unanswered_step_count,
        total(void_step_count) as void_step_count,
        exact_mean(name_f1) as name_f1,
        exact_mean(key_f1) as key_f1,
        exact_mean(value_f1) as value_f1,
        exact_mean(plan_similarity) as plan_similarity,
        exact_mean(read_plan_similarity) as read_plan_similarity,
        exact_mean(structure_similarity) as structure_similarity,
        exact_mean(component_similarity) as component_similarity
    from scenario_scores
    group by profile, model, experiment, language
),

ruled as (
    select
        summed.*,
        profiles.rounding,
        case when profiles.undefined = 'zero' then 0.0 end as undefined_score,
        case
            when profiles.mismatch_totals = 'zero' then 0 else summed.seen_type_mismatch_count
        end as type_mismatch_count,
        case
            when profiles.mismatch_totals = 'zero' then 0 else summed.seen_failed_generation_count
        end as failed_generation_count,
        summed.false_positive_reject_count
        + summed.false_negative_reject_count
        + case
            when profiles.error_total = 'with_mismatches' then summed.seen_type_mismatch_count
            else 0
        end as error_count,
        coalesce(refused_files.refused_file_count, 0) as refused_file_count
    from summed
    inner join profiles using (profile)
    left join refused_files using (scored_from, model, experiment, language)
),

decided as (
    select
        *,
        scored_file_count + refused_file_count as file_count,
        precision_of(true_positive_reject_count, false_positive_reject_count) as reject_precision,
        recall_of(true_positive_reject_count, false_negative_reject_count) as reject_recall,
        coalesce(
            f1(
                true_positive_reject_count, false_positive_reject_count, false_negative_reject_count
            ),
            case when rejection_label_count > 0 then 0.0 else undefined_score end
        ) as reject_f1,
        share(
            true_positive_reject_count + true_negative_reject_count,
            true_positive_reject_count
            + true_negative_reject_count
            + false_positive_reject_count
            + false_negative_reject_count
        ) as reject_accuracy,
        precision_of(true_positive_call_count, false_positive_call_count) as call_precision,
        recall_of(true_positive_call_count, false_negative_call_count) as call_recall,
        coalesce(
            f1(true_positive_call_count, false_positive_call_count, false_negative_call_count),
            undefined_score
        ) as call_f1,
        share(
            true_positive_call_count + true_negative_call_count,
            true_positive_call_count
            + true_negative_call_count
            + false_positive_call_count
            + false_negative_call_count
        ) as call_accuracy,
        share(false_negative_reject_count, error_count) as overaction_rate,
        share(false_positive_reject_count, error_count) as underaction_rate,
        share(type_mismatch_count, error_count) as type_mismatch_rate,
        share(
            true_positive_reject_count - type_mismatch_count, true_positive_reject_count
        ) as rejection_type_accuracy,
        share(call_case_count - true_negative_reject_count, call_case_count) as failed_call_rate
    from ruled
),

combined as (
    select
        *,
        round_by_rule(
            coalesce((reject_f1 + call_f1) / 2, reject_f1, call_f1), rounding
        ) as call_rejection_f1,
        round_by_rule((name_f1 + key_f1 + value_f1) / 3, rounding) as function_call_f1,
        round_by_rule(plan_similarity, rounding) as workflow_similarity
    from decided
),

counted as (
    select
        *,
        case when call_rejection_f1 is null then 0 else 1 end
        + case when function_call_f1 is null then 0 else 1 end
        + case when workflow_similarity is null then 0 else 1 end as defined_metric_count
    from combined
),

final as (
    select
        model, language,
        round_by_rule(
            share(
                coalesce(call_rejection_f1, 0)
                + coalesce(function_call_f1, 0)
                + coalesce(workflow_similarity, 0),
                defined_metric_count
            ),
            rounding
        ) as average_score,
        call_rejection_f1, function_call_f1, workflow_similarity,
        reject_precision, reject_recall, reject_f1, reject_accuracy,
        call_precision, call_recall, call_f1, call_accuracy,
        name_f1, key_f1, value_f1,
        plan_similarity, read_plan_similarity, structure_similarity, component_similarity,
        overaction_rate, underaction_rate, type_mismatch_rate, rejection_type_accuracy,
        failed_call_rate,
        file_count, scored_file_count, refused_file_count, run_count,
        call_label_count, rejection_label_count, call_scored_count,
        call_case_count, rejection_case_count,
        true_positive_reject_count, true_negative_reject_count,
        false_positive_reject_count, false_negative_reject_count,
        true_positive_call_count, true_negative_call_count,
        false_positive_call_count, false_negative_call_count,
        type_mismatch_count, failed_generation_count, error_count,
        plan_count, failed_plan_count, failed_plan_generation_count,
        inexact_plan_count, left_out_plan_count,
        unusable_label_count, surplus_answer_count, unlabelled_answer_count,
        unanswered_step_count, void_step_count,
        experiment, profile
    from counted
)

select * from final
