-- What a model's score costs in tokens and money, and whether it lies on the Pareto front.
-- grain: profile, model, experiment, language
-- A model is Pareto-optimal if no other of the profile and language has at least its score at no
-- more than its cost, and more score or less cost; null where score or cost is unknown. Costs are
-- compared by run of a scenario, since models may have been run more or less often; `usage_basis`
-- says where they come from, or that they are unknown.
with

model_scores as (select * from main.model_scores),
model_usage as (select * from main.model_usage),

priced as (
    select
        profile, model, experiment, language, average_score, usage_basis,
        unknown_usage_file_count, doubtful_usage_file_count,
        token_file_count, cost_file_count, token_run_count, cost_run_count,
        used_input_token_count, used_output_token_count, used_token_count, used_cost,
        least_token_count, least_cost,
        mean_file_tokens, mean_run_tokens, mean_file_cost, mean_run_cost,
        share(average_score, mean_run_cost) as score_per_cost
    from model_scores
    inner join model_usage using (model, experiment, language)
),

cost_ranked as (
    select
        *,
        dense_rank() over (partition by profile, language order by mean_run_cost) as cost_rank
    from priced
),

rivalled as (
    select
        *,
        max(average_score) over (partition by profile, language, cost_rank) as best_score_at_cost,
        max(average_score) over (
            partition by profile, language
            order by cost_rank
            range between unbounded preceding and 1 preceding
        ) as best_cheaper_score
    from cost_ranked
),

fronts as (
    select
        profile, model, experiment, language,
        case
            when mean_run_cost is not null and average_score is not null
                then
                    average_score = best_score_at_cost
                    and (best_cheaper_score is null or average_score > best_cheaper_score)
        end as is_pareto_optimal
    from rivalled
),

judged as (
    select
        priced.*,
        fronts.is_pareto_optimal
    from priced
    inner join fronts using (profile, model, experiment, language)
)

select * from judged
