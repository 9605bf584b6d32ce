-- The scores of a scenario file, with what was left out beside them: the seed's `detailed_results`.
-- grain: profile, model, experiment, language, scenario
with

profiles as (
    select * from main.profiles
),

scenarios as (
    select * from main.scenarios
),

decisions as (
    select * from main.scenario_decisions
),

calls as (
    select * from main.scenario_calls
),

plans as (
    select * from main.scenario_plans
),

files as (
    select
        profiles.profile,
        profiles.case_totals,
        case when profiles.undefined = 'zero' then 0.0 end as undefined_score,
        scenarios.model,
        scenarios.experiment,
        scenarios.language,
        scenarios.scenario,
        scenarios.run_count,
        scenarios.step_count,
        scenarios.call_key_count
    from scenarios
    cross join profiles
),

joined as (
    select
        profile,
        model,
        experiment,
        language,
        scenario,
        files.run_count,
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
