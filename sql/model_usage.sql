-- What a model used in a language: calls, tokens and cost, and on what basis that is known.
-- grain: model, experiment, language
-- Sums are over the files whose share is known, or over what processes had counted when they wrote
-- their last file; the number of files and runs behind a sum stands beside it. The basis is that of
-- the known files, which the order of the alphabet puts before unknown ones. Where all are unknown,
-- the greatest mean reading of a file is the least that the process used.
with

scenario_usage as (select * from main.scenario_usage),

known as (
    select
        *,
        case
            when usage_basis <> 'process' then used_call_count
            when is_process_end then usage_call_count
        end as known_call_count,
        case
            when usage_basis <> 'process' then used_input_token_count
            when is_process_end then input_token_count
        end as known_input_token_count,
        case
            when usage_basis <> 'process' then used_output_token_count
            when is_process_end then output_token_count
        end as known_output_token_count,
        case
            when usage_basis <> 'process' then used_token_count
            when is_process_end then total_token_count
        end as known_token_count,
        case
            when usage_basis <> 'process' then used_cost
            when is_process_end then total_cost
        end as known_cost,
        coalesce(used_token_count, case when usage_basis = 'process' then total_token_count end)
            is not null as has_tokens,
        coalesce(used_cost, case when usage_basis = 'process' then total_cost end)
            is not null as has_cost
    from scenario_usage
),

summed as (
    select
        model, experiment, language,
        min(usage_basis) as usage_basis,
        count(*) filter (where usage_basis = 'unknown') as unknown_usage_file_count,
        count(*) filter (where is_usage_doubtful) as doubtful_usage_file_count,
        count(*) filter (where has_tokens) as token_file_count,
        count(*) filter (where has_cost) as cost_file_count,
        total_where(run_count, has_tokens) as token_run_count,
        total_where(run_count, has_cost) as cost_run_count,
        total(known_call_count) as used_call_count,
        total(known_input_token_count) as used_input_token_count,
        total(known_output_token_count) as used_output_token_count,
        total(known_token_count) as used_token_count,
        exact_sum(known_cost) as used_cost,
        case
            when min(usage_basis) = 'unknown'
                then cast(ceil(max(share(total_token_count, run_count))) as bigint)
        end as least_token_count,
        case
            when min(usage_basis) = 'unknown' then max(share(total_cost, run_count))
        end as least_cost
    from known
    group by model, experiment, language
),

divided as (
    select
        *,
        share(used_token_count, token_file_count) as mean_file_tokens,
        share(used_token_count, token_run_count) as mean_run_tokens,
        share(used_cost, cost_file_count) as mean_file_cost,
        share(used_cost, cost_run_count) as mean_run_cost
    from summed
)

select * from divided
