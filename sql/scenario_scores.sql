-- The scores of a scenario file, with what was left out beside them: the seed's `detailed_results`.
-- grain: profile, model, experiment, language, scenario
-- Scoring runs this over the rows of each task and stores the result as a table: a scenario file
-- lies in one task, so its row is complete. Every view above this grain reads the stored rows.
-- Call scores are means over runs of means over steps, and plan scores means over plans, as the
-- benchmark defines them, so averages are averaged on purpose.
with

profiles as (select * from main.profiles),
scenarios as (select * from main.scenarios),
scored_steps as (select * from main.scored_steps),
scored_plans as (select * from main.scored_plans),

decisions as (
    select
        profile, model, experiment, language, scenario,
        count(*) filter (where is_scored and actual = 'call') as call_label_count,
        count(*) filter (where is_scored and actual <> 'call') as rejection_label_count,
        count(*) filter (where is_call_scored) as call_scored_count,
        sum(true_positive_reject_count) as true_positive_reject_count,
        sum(true_negative_reject_count) as true_negative_reject_count,
        sum(false_positive_reject_count) as false_positive_reject_count,
        sum(false_negative_reject_count) as false_negative_reject_count,
        sum(true_positive_call_count) as true_positive_call_count,
        sum(true_negative_call_count) as true_negative_call_count,
        sum(false_positive_call_count) as false_positive_call_count,
        sum(false_negative_call_count) as false_negative_call_count,
        count(*) filter (where is_type_mismatch) as type_mismatch_count,
        sum(failed_generation_count) as failed_generation_count,
        count(*) filter (where left_out_reason = 'unusable_label') as unusable_label_count,
        count(*) filter (where left_out_reason = 'surplus_answer') as surplus_answer_count,
        count(*) filter (where left_out_reason = 'unlabelled_answer') as unlabelled_answer_count,
        count(*) filter (where left_out_reason = 'unanswered_step') as unanswered_step_count,
        count(*) filter (where left_out_reason = 'void_file') as void_step_count
    from scored_steps
    group by profile, model, experiment, language, scenario
),

run_sums as (
    select
        profile, model, experiment, language, scenario, run, run_position,
        rounding, run_mean, value_mean, addition,
        count(*) filter (where actual = 'call') as call_label_count,
        count(*) filter (where is_call_scored) as call_scored_count,
        count(*) filter (where value_f1 > 0) as positive_value_count,
        sum_by_rule(name_f1, answer_position, addition) as name_f1_sum,
        sum_by_rule(key_f1, answer_position, addition) as key_f1_sum,
        sum_by_rule(
            case when value_mean = 'all_steps' or value_f1 > 0 then value_f1 end,
            answer_position, addition
        ) as value_f1_sum
    from scored_steps
    inner join profiles using (profile)
    where is_scored
    group by
        profile, model, experiment, language, scenario, run, run_position,
        rounding, run_mean, value_mean, addition
),

-- A run whose every call was rejected has a call label and no scored call: its scores are 0.
run_calls as (
    select
        *,
        round_by_rule(coalesce(share(name_f1_sum, call_scored_count), 0), rounding) as name_f1,
        round_by_rule(coalesce(share(key_f1_sum, call_scored_count), 0), rounding) as key_f1,
        coalesce(
            share(
                value_f1_sum,
                case
                    when value_mean = 'positive_only' then positive_value_count
                    else call_scored_count
                end
            ),
            0
        ) as value_f1
    from run_sums
    where run_mean = 'all_runs' or call_label_count > 0
),

call_sums as (
    select
        profile, model, experiment, language, scenario, rounding, run_mean,
        count(*) as scored_run_count,
        sum_by_rule(name_f1, run_position, addition) as name_f1_sum,
        sum_by_rule(key_f1, run_position, addition) as key_f1_sum,
        sum_by_rule(value_f1, run_position, addition) as value_f1_sum
    from run_calls
    group by profile, model, experiment, language, scenario, rounding, run_mean
),

counted_calls as (
    select
        call_sums.*,
        case
            when call_sums.run_mean = 'all_runs' then scenarios.run_count
            else call_sums.scored_run_count
        end as call_run_count
    from call_sums
    inner join scenarios using (model, experiment, language, scenario)
),

calls as (
    select
        profile, model, experiment, language, scenario, call_run_count,
        round_by_rule(share(name_f1_sum, call_run_count), rounding) as name_f1,
        round_by_rule(share(key_f1_sum, call_run_count), rounding) as key_f1,
        round_by_rule(share(value_f1_sum, call_run_count), rounding) as value_f1
    from counted_calls
),

plan_sums as (
    select
        profile, model, experiment, language, scenario,
        count(*) filter (where is_scored) as plan_count,
        count(*) filter (where is_scored and is_failed) as failed_plan_count,
        sum(failed_generation_count) as failed_plan_generation_count,
        exact_sum(plan_similarity) as plan_similarity_sum,
        exact_sum(structure_similarity) as structure_similarity_sum,
        exact_sum(component_similarity) as component_similarity_sum,
        count(*) filter (where is_scored and not is_ged_exact) as inexact_plan_count,
        count(*) filter (where not is_scored) as left_out_plan_count
    from scored_plans
    group by profile, model, experiment, language, scenario
),

counted_plans as (
    select
        plan_sums.*,
        case
            when profiles.failed_plan = 'per_entry'
                then plan_sums.plan_count + plan_sums.failed_plan_generation_count
            else plan_sums.plan_count
        end as plan_with_failure_count,
        case
            when profiles.without_failure = 'includes_failed' then plan_sums.plan_count
            else plan_sums.plan_count - plan_sums.failed_plan_count
        end as plan_without_failure_count
    from plan_sums
    inner join profiles using (profile)
),

plans as (
    select
        *,
        share(plan_similarity_sum, plan_with_failure_count) as plan_similarity,
        share(plan_similarity_sum, plan_without_failure_count) as read_plan_similarity,
        share(structure_similarity_sum, plan_count) as structure_similarity,
        share(component_similarity_sum, plan_count) as component_similarity
    from counted_plans
),

files as (
    select
        profiles.profile, profiles.case_totals,
        case when profiles.undefined = 'zero' then 0.0 end as undefined_score,
        scenarios.model, scenarios.experiment, scenarios.language, scenarios.scenario,
        scenarios.run_count, scenarios.step_count, scenarios.call_key_count
    from scenarios
    cross join profiles
),

joined as (
    select
        profile, model, experiment, language, scenario, files.run_count,
        coalesce(decisions.call_label_count, 0) as call_label_count,
        coalesce(decisions.rejection_label_count, 0) as rejection_label_count,
        coalesce(decisions.call_scored_count, 0) as call_scored_count,
        case
            when decisions.void_step_count > 0 then 0
            when files.case_totals = 'by_call_key' then files.call_key_count
            else coalesce(decisions.call_label_count, 0)
        end as call_case_count,
        case
            when decisions.void_step_count > 0 then 0
            when files.case_totals = 'by_call_key' then files.step_count - files.call_key_count
            else coalesce(decisions.rejection_label_count, 0)
        end as rejection_case_count,
        coalesce(decisions.true_positive_reject_count, 0) as true_positive_reject_count,
        coalesce(decisions.true_negative_reject_count, 0) as true_negative_reject_count,
        coalesce(decisions.false_positive_reject_count, 0) as false_positive_reject_count,
        coalesce(decisions.false_negative_reject_count, 0) as false_negative_reject_count,
        coalesce(decisions.true_positive_call_count, 0) as true_positive_call_count,
        coalesce(decisions.true_negative_call_count, 0) as true_negative_call_count,
        coalesce(decisions.false_positive_call_count, 0) as false_positive_call_count,
        coalesce(decisions.false_negative_call_count, 0) as false_negative_call_count,
        coalesce(decisions.type_mismatch_count, 0) as type_mismatch_count,
        coalesce(decisions.failed_generation_count, 0) as failed_generation_count,
        coalesce(calls.call_run_count, 0) as call_run_count,
        coalesce(calls.name_f1, files.undefined_score) as name_f1,
        coalesce(calls.key_f1, files.undefined_score) as key_f1,
        coalesce(calls.value_f1, files.undefined_score) as value_f1,
        coalesce(plans.plan_count, 0) as plan_count,
        coalesce(plans.failed_plan_count, 0) as failed_plan_count,
        coalesce(plans.failed_plan_generation_count, 0) as failed_plan_generation_count,
        coalesce(plans.plan_with_failure_count, 0) as plan_with_failure_count,
        coalesce(plans.plan_without_failure_count, 0) as plan_without_failure_count,
        coalesce(plans.plan_similarity_sum, 0) as plan_similarity_sum,
        coalesce(plans.structure_similarity_sum, 0) as structure_similarity_sum,
        coalesce(plans.component_similarity_sum, 0) as component_similarity_sum,
        coalesce(plans.plan_similarity, files.undefined_score) as plan_similarity,
        coalesce(plans.read_plan_similarity, files.undefined_score) as read_plan_similarity,
        coalesce(plans.structure_similarity, files.undefined_score) as structure_similarity,
        coalesce(plans.component_similarity, files.undefined_score) as component_similarity,
        coalesce(plans.inexact_plan_count, 0) as inexact_plan_count,
        coalesce(plans.left_out_plan_count, 0) as left_out_plan_count,
        coalesce(decisions.unusable_label_count, 0) as unusable_label_count,
        coalesce(decisions.surplus_answer_count, 0) as surplus_answer_count,
        coalesce(decisions.unlabelled_answer_count, 0) as unlabelled_answer_count,
        coalesce(decisions.unanswered_step_count, 0) as unanswered_step_count,
        coalesce(decisions.void_step_count, 0) as void_step_count
    from files
    left join decisions using (profile, model, experiment, language, scenario)
    left join calls using (profile, model, experiment, language, scenario)
    left join plans using (profile, model, experiment, language, scenario)
)

select * from joined
