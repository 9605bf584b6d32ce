-- Models ranked by their average score, with how much of the sweep each of them covers.
-- grain: profile, model, experiment
-- A score is the mean of the model's languages, as the public table has it. The sweep is every
-- scenario that some model has under the profile, or that is expected; where only a number is
-- expected, it is at least as large. A model that lacks one of them, has no average, or has a
-- language without a single answer (a dead endpoint, not a score of 0), has no rank.
with

profiles as (
    select * from main.profiles
),

model_scores as (
    select * from main.model_scores
),

scenario_scores as (
    select * from main.scenario_scores
),

model_problems as (
    select * from main.model_problems
),

expected_scenarios as (
    select * from main.expected_scenarios
),

expected as (
    select count(*) as expected_scenario_count from expected_scenarios
),

sweep_scenarios as (
    select
        profile,
        language,
        scenario
    from scenario_scores
    union
    select
        profiles.profile,
        expected_scenarios.language,
        expected_scenarios.scenario
    from expected_scenarios
    cross join profiles
    where expected_scenarios.scenario is not null
),

sweep as (
    select
        sweep_scenarios.profile,
        greatest(count(*), max(expected.expected_scenario_count)) as sweep_scenario_count,
        count(distinct sweep_scenarios.language) as sweep_language_count
    from sweep_scenarios
    cross join expected
    group by sweep_scenarios.profile
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

answered as (
    select
        model,
        experiment,
        count(*) filter (where is_unanswered) as unanswered_language_count
    from model_problems
    group by model, experiment
),

covered as (
    select
        summed.*,
        coalesce(answered.unanswered_language_count, 0) as unanswered_language_count,
        sweep.sweep_scenario_count,
        sweep.sweep_language_count,
        share(summed.scenario_count, sweep.sweep_scenario_count) as coverage,
        case
            when answered.unanswered_language_count > 0 then 'no_answers'
            when summed.scenario_count < sweep.sweep_scenario_count then 'incomplete'
            when summed.average_score is null then 'no_score'
            else 'ranked'
        end as rank_status
    from summed
    inner join sweep using (profile)
    left join answered using (model, experiment)
),

ranked as (
    select
        profile,
        model,
        experiment,
        case
            when rank_status = 'ranked'
                then rank() over (
                    partition by profile, rank_status
                    order by average_score desc
                )
        end as rank_number,
        average_score,
        call_rejection_f1,
        function_call_f1,
        workflow_similarity,
        coverage,
        rank_status = 'ranked' as is_ranked,
        rank_status,
        scenario_count,
        sweep_scenario_count,
        language_count,
        sweep_language_count,
        unanswered_language_count,
        file_count,
        refused_file_count
    from covered
)

select * from ranked
