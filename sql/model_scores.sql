-- The scores of a model in a language: the seed's `overall_statistics`.
-- grain: profile, model, experiment, language
-- Counts are summed over files and divided last; call and plan scores are means over files, in
-- which every file weighs the same, as the benchmark defines them.
-- Planning is most of this query's time: the long formulas up to `rounded` are materialized, or
-- they would be written out again in every formula that uses them.
with

profiles as (
    select * from main.profiles
),

scenario_scores as (
    select * from main.scenario_scores
),

sources as (
    select * from main.sources
),

refused_files as (
    select
        model,
        experiment,
        language,
        count(*) as refused_file_count
    from sources
    where kind = 'runs' and status = 'refused' and reason <> 'duplicate'
    group by model, experiment, language
),

summed as (
    select
        profile,
        model,
        experiment,
        language,
        count(*) as scored_file_count,
        cast(sum(run_count) as bigint) as run_count,
        cast(sum(call_label_count) as bigint) as call_label_count,
        cast(sum(rejection_label_count) as bigint) as rejection_label_count,
        cast(sum(call_scored_count) as bigint) as call_scored_count,
        cast(sum(call_case_count) as bigint) as call_case_count,
        cast(sum(rejection_case_count) as bigint) as rejection_case_count,
        cast(sum(true_positive_reject_count) as bigint) as true_positive_reject_count,
        cast(sum(true_negative_reject_count) as bigint) as true_negative_reject_count,
        cast(sum(false_positive_reject_count) as bigint) as false_positive_reject_count,
        cast(sum(false_negative_reject_count) as bigint) as false_negative_reject_count,
        cast(sum(true_positive_call_count) as bigint) as true_positive_call_count,
        cast(sum(true_negative_call_count) as bigint) as true_negative_call_count,
        cast(sum(false_positive_call_count) as bigint) as false_positive_call_count,
        cast(sum(false_negative_call_count) as bigint) as false_negative_call_count,
        cast(sum(type_mismatch_count) as bigint) as seen_type_mismatch_count,
        cast(sum(failed_generation_count) as bigint) as seen_failed_generation_count,
        cast(sum(plan_count) as bigint) as plan_count,
        cast(sum(failed_plan_count) as bigint) as failed_plan_count,
        cast(sum(failed_plan_generation_count) as bigint) as failed_plan_generation_count,
        cast(sum(inexact_plan_count) as bigint) as inexact_plan_count,
        cast(sum(left_out_plan_count) as bigint) as left_out_plan_count,
        cast(sum(unusable_label_count) as bigint) as unusable_label_count,
        cast(sum(surplus_answer_count) as bigint) as surplus_answer_count,
        cast(sum(unlabelled_answer_count) as bigint) as unlabelled_answer_count,
        cast(sum(unanswered_step_count) as bigint) as unanswered_step_count,
        cast(sum(void_step_count) as bigint) as void_step_count,
        avg(name_f1) as name_f1,
        avg(key_f1) as key_f1,
        avg(value_f1) as value_f1,
        avg(plan_similarity) as plan_similarity,
        avg(read_plan_similarity) as read_plan_similarity,
        avg(structure_similarity) as structure_similarity,
        avg(component_similarity) as component_similarity
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
    left join refused_files using (model, experiment, language)
),

decided as (
    select
        *,
        scored_file_count + refused_file_count as file_count,
        true_positive_reject_count
        / nullif(true_positive_reject_count + false_positive_reject_count, 0) as reject_precision,
        true_positive_reject_count
        / nullif(true_positive_reject_count + false_negative_reject_count, 0) as reject_recall,
        case
            when
                rejection_label_count + true_positive_reject_count + false_positive_reject_count > 0
                then coalesce(
                    2 * true_positive_reject_count
                    / nullif(
                        2 * true_positive_reject_count
                        + false_positive_reject_count
                        + false_negative_reject_count,
                        0
                    ),
                    0
                )
            else undefined_score
        end as reject_f1,
        (true_positive_reject_count + true_negative_reject_count)
        / nullif(
            true_positive_reject_count
            + true_negative_reject_count
            + false_positive_reject_count
            + false_negative_reject_count,
            0
        ) as reject_accuracy,
        true_positive_call_count
        / nullif(true_positive_call_count + false_positive_call_count, 0) as call_precision,
        true_positive_call_count
        / nullif(true_positive_call_count + false_negative_call_count, 0) as call_recall,
        coalesce(
            2 * true_positive_call_count
            / nullif(
                2 * true_positive_call_count
                + false_positive_call_count
                + false_negative_call_count,
                0
            ),
            undefined_score
        ) as call_f1,
        (true_positive_call_count + true_negative_call_count)
        / nullif(
            true_positive_call_count
            + true_negative_call_count
            + false_positive_call_count
            + false_negative_call_count,
            0
        ) as call_accuracy,
        false_negative_reject_count / nullif(error_count, 0) as overaction_rate,
        false_positive_reject_count / nullif(error_count, 0) as underaction_rate,
        type_mismatch_count / nullif(error_count, 0) as type_mismatch_rate,
        (true_positive_reject_count - type_mismatch_count)
        / nullif(true_positive_reject_count, 0) as rejection_type_accuracy,
        (call_case_count - true_negative_reject_count)
        / nullif(call_case_count, 0) as failed_call_rate
    from ruled
),

combined as (
    select
        *,
        (coalesce(reject_f1, 0) + coalesce(call_f1, 0))
        / nullif(
            case when reject_f1 is null then 0 else 1 end
            + case when call_f1 is null then 0 else 1 end,
            0
        ) as exact_call_rejection_f1,
        (name_f1 + key_f1 + value_f1) / 3 as exact_function_call_f1
    from decided
),

rounded as materialized (
    select
        *,
        case
            when rounding = 'four_digits' then round_half_even(exact_call_rejection_f1, 4)
            else exact_call_rejection_f1
        end as call_rejection_f1,
        case
            when rounding = 'four_digits' then round_half_even(exact_function_call_f1, 4)
            else exact_function_call_f1
        end as function_call_f1,
        case
            when rounding = 'four_digits' then round_half_even(plan_similarity, 4)
            else plan_similarity
        end as workflow_similarity
    from combined
),

averaged as (
    select
        *,
        (
            coalesce(call_rejection_f1, 0)
            + coalesce(function_call_f1, 0)
            + coalesce(workflow_similarity, 0)
        )
        / nullif(
            case when call_rejection_f1 is null then 0 else 1 end
            + case when function_call_f1 is null then 0 else 1 end
            + case when workflow_similarity is null then 0 else 1 end,
            0
        ) as exact_average_score
    from rounded
),

final as (
    select
        profile,
        model,
        experiment,
        language,
        case
            when rounding = 'four_digits' then round_half_even(exact_average_score, 4)
            else exact_average_score
        end as average_score,
        call_rejection_f1,
        function_call_f1,
        workflow_similarity,
        reject_precision,
        reject_recall,
        reject_f1,
        reject_accuracy,
        call_precision,
        call_recall,
        call_f1,
        call_accuracy,
        name_f1,
        key_f1,
        value_f1,
        plan_similarity,
        read_plan_similarity,
        structure_similarity,
        component_similarity,
        overaction_rate,
        underaction_rate,
        type_mismatch_rate,
        rejection_type_accuracy,
        failed_call_rate,
        file_count,
        scored_file_count,
        refused_file_count,
        run_count,
        call_label_count,
        rejection_label_count,
        call_scored_count,
        call_case_count,
        rejection_case_count,
        true_positive_reject_count,
        true_negative_reject_count,
        false_positive_reject_count,
        false_negative_reject_count,
        true_positive_call_count,
        true_negative_call_count,
        false_positive_call_count,
        false_negative_call_count,
        type_mismatch_count,
        failed_generation_count,
        error_count,
        plan_count,
        failed_plan_count,
        failed_plan_generation_count,
        inexact_plan_count,
        left_out_plan_count,
        unusable_label_count,
        surplus_answer_count,
        unlabelled_answer_count,
        unanswered_step_count,
        void_step_count
    from averaged
)

select * from final
