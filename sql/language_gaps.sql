-- How much better or worse a model is in one language than in another, by metric.
-- grain: profile, model, experiment, metric, language, other_language
-- Every pair of the model's languages stands once, in alphabetical order. Scenario numbers do not
-- correspond between languages, so the gap is a difference of two independent scores, never of
-- pairs.
with

metric_scores as (select * from main.metric_scores),

compared as (
    select
        one.profile, one.model, one.experiment, one.metric, one.language,
        other.language as other_language,
        one.score,
        other.score as other_score,
        one.scored_file_count,
        other.scored_file_count as other_scored_file_count,
        other.score - one.score as language_gap
    from metric_scores as one
    inner join metric_scores as other
        on one.profile = other.profile
        and one.model = other.model
        and one.experiment = other.experiment
        and one.metric = other.metric
        and one.language < other.language
)

select * from compared
