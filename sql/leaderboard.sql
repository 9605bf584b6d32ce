-- Models ranked by their average score, with how much of the sweep each of them covers.
-- grain: profile, model, experiment
-- A score is the mean of the model's languages, as the public table has it. The sweep is every
-- scenario that some model has or that is expected; where only a number is expected, it is at least
-- as large. A model that lacks one of them, or has no average, has no rank.
with

model_scores as (
    select * from main.model_scores
),

scenarios as (
    select * from main.scenarios
),

expected_scenarios as (
    select * from main.expected_scenarios
),

expected as (
    select count(*) as expected_scenario_count from expected_scenarios
),

sweep_scenarios as (
    select
        language,
        scenario
    from scenarios
    union
    select
        language,
        scenario
    from expected_scenarios
    where scenario is not null
),

sweep as (
    select
        greatest(count(*), max(expected.expected_scenario_count)) as sweep_scenario_count,
        count(distinct sweep_scenarios.language) as sweep_language_count
    from sweep_scenarios
    cross join expected
),

summed as (
    select
        profile,
        model,
        experiment,
        count(*) as language_count,
        cast(sum(file_count) as bigint) as file_count,
        cast(sum(scored_file_count) as bigint) as scenario_count,
        cast(sum(refused_file_count) as bigint) as refused_file_count,
        exact_mean(average_score) as average_score,
        exact_mean(call_rejection_f1) as call_rejection_f1,
        exact_mean(function_call_f1) as function_call_f1,
        exact_mean(workflow_similarity) as workflow_similarity
    from model_scores
    group by profile, model, experiment
),

covered as (
    select
        summed.*,
        sweep.sweep_scenario_count,
        sweep.sweep_language_count,
        share(summed.scenario_count, sweep.sweep_scenario_count) as coverage,
        summed.scenario_count = sweep.sweep_scenario_count
        and summed.average_score is not null as is_ranked
    from summed
    cross join sweep
),

ranked as (
    select
        profile,
        model,
        experiment,
        case
            when is_ranked
                then rank() over (
                    partition by profile, is_ranked
                    order by average_score desc
                )
        end as rank_number,
        average_score,
        call_rejection_f1,
        function_call_f1,
        workflow_similarity,
        coverage,
        is_ranked,
        scenario_count,
        sweep_scenario_count,
        language_count,
        sweep_language_count,
        file_count,
        refused_file_count
    from covered
)

select * from ranked
