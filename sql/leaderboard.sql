-- Models ranked by their average score, with how much of the sweep each of them covers.
-- grain: profile, model, experiment
-- A score is the mean of the model's languages; `language_ranks` says who has a rank.
with

language_ranks as (select * from main.language_ranks),

means as (
    select
        rank_number, model,
        average_score, call_rejection_f1, function_call_f1, workflow_similarity,
        coverage, scenario_count, sweep_scenario_count, refused_file_count, rank_status, is_ranked,
        file_count, language_count, sweep_language_count, unanswered_language_count,
        experiment, profile
    from language_ranks
    where language = 'mean'
)

select * from means
