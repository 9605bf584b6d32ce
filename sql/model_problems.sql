-- What went wrong while a model was run and judged in a language, as far as its files tell.
-- grain: model, experiment, language
-- A lost answer is one that a label asks for and no entry gives, as after a failed request; an
-- empty one has an entry that says nothing and calls nothing. A model without any answer is
-- unanswered: its endpoint was dead, and its scores say nothing about it. Failed requests are known
-- only where the benchmark's log is there; one that was sent again successfully loses no answer.
with

scenarios as (select * from main.scenarios),
reported_scenarios as (select * from main.reported_scenarios),
run_logs as (select * from main.run_logs),

summed as (
    select
        model, experiment, language,
        total(step_count + plan_count) as label_count,
        total(step_answer_count + plan_answer_count) as answer_count,
        total(missing_answer_count + missing_plan_count) as lost_answer_count,
        total(empty_answer_count) as empty_answer_count,
        total(unreadable_run_count) as unreadable_run_count,
        total(unreadable_entry_count) as unreadable_entry_count
    from scenarios
    group by model, experiment, language
),

reported as (
    select
        model, experiment, language,
        cast(
            sum(case when figure = 'detail.arguments_detail.llm_failed_trials' then value end)
            as bigint
        ) as unjudged_run_count,
        count(distinct case when message is not null then scenario end) as reported_error_count
    from reported_scenarios
    group by model, experiment, language
),

rated as (
    select
        model, experiment, language,
        coalesce(summed.label_count > 0 and summed.answer_count = 0, false) as is_unanswered,
        summed.label_count, summed.answer_count, summed.lost_answer_count,
        summed.empty_answer_count, summed.unreadable_run_count, summed.unreadable_entry_count,
        reported.unjudged_run_count, reported.reported_error_count, run_logs.failed_request_count,
        run_logs.rate_limited_request_count, run_logs.retried_request_count,
        run_logs.logged_error_count, run_logs.first_error,
        share(summed.lost_answer_count, summed.label_count) as lost_answer_rate,
        share(summed.empty_answer_count, summed.answer_count) as empty_answer_rate
    from summed
    full join reported using (model, experiment, language)
    left join run_logs using (model, experiment, language)
)

select * from rated
