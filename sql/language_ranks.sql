-- Models ranked by their average score in each language, and by the mean of their languages.
-- grain: profile, model, experiment, language
-- The mean has the language `mean`, as the public table has it. The sweep is every scenario that
-- some model has under the profile, or that is expected; where only a number is expected, the sweep
-- over all languages is at least as large. A model that lacks one of these scenarios, has no
-- average, or has a language without a single answer (a dead endpoint, not a score of 0), has no
-- rank.
with

profiles as (select * from main.profiles),
model_scores as (select * from main.model_scores),
scenario_scores as (select * from main.scenario_scores),
model_problems as (select * from main.model_problems),
expected_scenarios as (select * from main.expected_scenarios),

expected as (
    select count(*) as expected_scenario_count from expected_scenarios
),

sweep_scenarios as (
    select profile, language, scenario
    from scenario_scores
    union
    select profiles.profile, expected_scenarios.language, expected_scenarios.scenario
    from expected_scenarios
    cross join profiles
    where expected_scenarios.scenario is not null
),

sweeps as (
    select
        profile, language,
        count(*) as sweep_scenario_count,
        count(distinct language) as sweep_language_count
    from sweep_scenarios
    group by profile, language
    union all
    select
        sweep_scenarios.profile,
        'mean' as language,
        greatest(count(*), max(expected.expected_scenario_count)) as sweep_scenario_count,
        count(distinct sweep_scenarios.language) as sweep_language_count
    from sweep_scenarios
    cross join expected
    group by sweep_scenarios.profile
),

scored as (
    select
        model_scores.*,
        case when model_problems.is_unanswered then 1 else 0 end as unanswered_language_count
    from model_scores
    left join model_problems using (model, experiment, language)
),

summed as (
    select
        profile, model, experiment, language,
        average_score, call_rejection_f1, function_call_f1, workflow_similarity,
        scored_file_count as scenario_count,
        refused_file_count, file_count,
        cast(1 as bigint) as language_count,
        cast(unanswered_language_count as bigint) as unanswered_language_count
    from scored
    union all
    select
        profile, model, experiment,
        'mean' as language,
        exact_mean(average_score) as average_score,
        exact_mean(call_rejection_f1) as call_rejection_f1,
        exact_mean(function_call_f1) as function_call_f1,
        exact_mean(workflow_similarity) as workflow_similarity,
        total(scored_file_count) as scenario_count,
        total(refused_file_count) as refused_file_count,
        total(file_count) as file_count,
        count(*) as language_count,
        total(unanswered_language_count) as unanswered_language_count
    from scored
    group by profile, model, experiment
),

covered as (
    select
        summed.*,
        sweeps.sweep_scenario_count, sweeps.sweep_language_count,
        share(summed.scenario_count, sweeps.sweep_scenario_count) as coverage,
        case
            when summed.unanswered_language_count > 0 then 'no_answers'
            when summed.scenario_count < sweeps.sweep_scenario_count then 'incomplete'
            when summed.average_score is null then 'no_score'
            else 'ranked'
        end as rank_status
    from summed
    inner join sweeps using (profile, language)
),

ranked as (
    select
        case
            when rank_status = 'ranked'
                then rank() over (
                    partition by profile, language, rank_status order by average_score desc
                )
        end as rank_number,
        model, language, average_score, call_rejection_f1, function_call_f1, workflow_similarity,
        coverage, scenario_count, sweep_scenario_count, refused_file_count, rank_status,
        rank_status = 'ranked' as is_ranked,
        file_count, language_count, sweep_language_count, unanswered_language_count,
        experiment, profile
    from covered
)

select * from ranked
