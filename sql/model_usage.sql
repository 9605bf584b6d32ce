-- What a model used in a language: calls, tokens and cost, as its documents say.
-- grain: model, experiment, language
-- Sums are over the files that state the figure; their number and their runs stand beside it.
with

scenarios as (
    select * from main.scenarios
),

summed as (
    select
        model,
        experiment,
        language,
        count(total_token_count) as token_file_count,
        count(total_cost) as cost_file_count,
        cast(
            coalesce(sum(run_count) filter (where total_token_count is not null), 0) as bigint
        ) as token_run_count,
        cast(
            coalesce(sum(run_count) filter (where total_cost is not null), 0) as bigint
        ) as cost_run_count,
        cast(sum(usage_call_count) as bigint) as usage_call_count,
        cast(sum(input_token_count) as bigint) as input_token_count,
        cast(sum(output_token_count) as bigint) as output_token_count,
        cast(sum(total_token_count) as bigint) as total_token_count,
        exact_sum(total_cost) as total_cost
    from scenarios
    group by model, experiment, language
),

divided as (
    select
        *,
        share(total_token_count, token_file_count) as mean_file_tokens,
        share(total_token_count, token_run_count) as mean_run_tokens,
        share(total_cost, cost_file_count) as mean_file_cost,
        share(total_cost, cost_run_count) as mean_run_cost
    from summed
)

select * from divided
