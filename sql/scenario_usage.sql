-- What a scenario file used, where that can be told from what it states, and on what basis.
-- grain: model, experiment, language, scenario
-- The benchmark counts calls from the start of its process, one process for each language, and
-- never resets the counter. It works on several scenarios at once, reads the counter after each
-- run of a scenario, and writes the sum of these readings into the file. So a stated figure is
-- - `as_given`: the file's own, if its calls, or those of another file of the model, are fewer than
--   any such counter would say;
-- - `difference`: of files with one run each, the difference to the file written before it; a
--   fall is the start of another process;
-- - `process`: likewise, but the differences do not fit the answers, as scenarios ran side by side
--   or files are gone: only the total of the process is known;
-- - `unknown`: all else, above all the files of the benchmark with several runs.
-- A file with more than five calls for each of its answers is doubtful and never taken as given.
with

scenarios as (select * from main.scenarios),

counted as (
    select
        model, experiment, language, scenario, run_count, generated_seconds,
        plan_answer_count + step_answer_count as answer_count,
        least_counter_count, usage_call_count, input_token_count, output_token_count,
        total_token_count, total_cost,
        coalesce(usage_call_count > 5 * (plan_answer_count + step_answer_count), false)
            as is_usage_doubtful
    from scenarios
),

followed as (
    select
        *,
        lag(scenario) over written is null
        or coalesce(usage_call_count < lag(usage_call_count) over written, false)
        or coalesce(total_token_count < lag(total_token_count) over written, false)
        or coalesce(total_cost < lag(total_cost) over written, false) as is_process_start
    from counted
    window written as (
        partition by model, experiment, language
        order by generated_seconds, usage_call_count, scenario
    )
),

numbered as (
    select
        *,
        sum(case when is_process_start then 1 else 0 end) over (
            partition by model, experiment, language
            order by generated_seconds, usage_call_count, scenario
            rows between unbounded preceding and current row
        ) as process_number
    from followed
),

measured as (
    select
        *,
        usage_call_count
        - case when is_process_start then 0 else lag(usage_call_count) over written end
            as call_increase,
        input_token_count
        - case when is_process_start then 0 else lag(input_token_count) over written end
            as input_token_increase,
        output_token_count
        - case when is_process_start then 0 else lag(output_token_count) over written end
            as output_token_increase,
        total_token_count
        - case when is_process_start then 0 else lag(total_token_count) over written end
            as token_increase,
        total_cost - case when is_process_start then 0 else lag(total_cost) over written end
            as cost_increase,
        lead(scenario) over written is null as is_process_end,
        sum(answer_count) over (
            partition by model, experiment, language, process_number
            order by generated_seconds, usage_call_count, scenario
            rows between unbounded preceding and current row
        ) as process_answer_count
    from numbered
    window written as (
        partition by model, experiment, language, process_number
        order by generated_seconds, usage_call_count, scenario
    )
),

grouped as (
    select
        model, experiment, language,
        max(run_count) <= 1
        and count(usage_call_count) = count(*)
        and (count(generated_seconds) = count(*) or count(*) = 1) as is_ordered,
        sum(case when usage_call_count < least_counter_count then 1 else 0 end) > 0
        or (
            max(run_count) <= 1
            and sum(case when usage_call_count < process_answer_count then 1 else 0 end) > 0
            and sum(case when is_usage_doubtful then 1 else 0 end) = 0
        ) as is_below_counter,
        sum(
            case when call_increase between answer_count and 5 * answer_count then 0 else 1 end
        ) = 0 as is_one_by_one
    from measured
    group by model, experiment, language
),

based as (
    select
        measured.*,
        case
            when measured.usage_call_count is null then 'unknown'
            when grouped.is_below_counter
                then case when measured.is_usage_doubtful then 'unknown' else 'as_given' end
            when grouped.is_ordered
                then case when grouped.is_one_by_one then 'difference' else 'process' end
            else 'unknown'
        end as usage_basis
    from measured
    inner join grouped using (model, experiment, language)
),

told as (
    select
        model, experiment, language, scenario, usage_basis, is_usage_doubtful, is_process_end,
        run_count, answer_count,
        case usage_basis
            when 'as_given' then usage_call_count
            when 'difference' then call_increase
        end as used_call_count,
        case usage_basis
            when 'as_given' then input_token_count
            when 'difference' then input_token_increase
        end as used_input_token_count,
        case usage_basis
            when 'as_given' then output_token_count
            when 'difference' then output_token_increase
        end as used_output_token_count,
        case usage_basis
            when 'as_given' then total_token_count
            when 'difference' then token_increase
        end as used_token_count,
        case usage_basis
            when 'as_given' then total_cost
            when 'difference' then cost_increase
        end as used_cost,
        usage_call_count, input_token_count, output_token_count, total_token_count, total_cost
    from based
)

select * from told
