-- What was decided in a scenario file, counted; and what was left out, by reason.
-- grain: profile, model, experiment, language, scenario
with

scored_steps as (
    select * from main.scored_steps
),

counted as (
    select
        profile,
        model,
        experiment,
        language,
        scenario,
        count(*) filter (where is_scored and actual = 'call') as call_label_count,
        count(*) filter (where is_scored and actual <> 'call') as rejection_label_count,
        count(*) filter (where is_call_scored) as call_scored_count,
        cast(sum(true_positive_reject_count) as bigint) as true_positive_reject_count,
        cast(sum(true_negative_reject_count) as bigint) as true_negative_reject_count,
        cast(sum(false_positive_reject_count) as bigint) as false_positive_reject_count,
        cast(sum(false_negative_reject_count) as bigint) as false_negative_reject_count,
        cast(sum(true_positive_call_count) as bigint) as true_positive_call_count,
        cast(sum(true_negative_call_count) as bigint) as true_negative_call_count,
        cast(sum(false_positive_call_count) as bigint) as false_positive_call_count,
        cast(sum(false_negative_call_count) as bigint) as false_negative_call_count,
        count(*) filter (where is_type_mismatch) as type_mismatch_count,
        cast(sum(failed_generation_count) as bigint) as failed_generation_count,
        count(*) filter (where left_out_reason = 'unusable_label') as unusable_label_count,
        count(*) filter (where left_out_reason = 'surplus_answer') as surplus_answer_count,
        count(*) filter (where left_out_reason = 'unlabelled_answer') as unlabelled_answer_count,
        count(*) filter (where left_out_reason = 'unanswered_step') as unanswered_step_count,
        count(*) filter (where left_out_reason = 'void_file') as void_step_count
    from scored_steps
    group by profile, model, experiment, language, scenario
)

select * from counted
