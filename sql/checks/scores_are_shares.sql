-- Every headline metric lies between 0 and 1.
with

figures as (
    select profile, model, experiment, language, 'average_score' as figure, average_score as found
    from main.model_scores
    union all
    select profile, model, experiment, language, 'call_rejection_f1', call_rejection_f1
    from main.model_scores
    union all
    select profile, model, experiment, language, 'function_call_f1', function_call_f1
    from main.model_scores
    union all
    select profile, model, experiment, language, 'workflow_similarity', workflow_similarity
    from main.model_scores
)

select
    profile,
    model,
    experiment,
    language,
    cast(null as varchar) as scenario,
    figure,
    case when found < 0 then 0 else 1 end as expected,
    found
from figures
where found < 0 or found > 1
