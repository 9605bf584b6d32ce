-- How well each type of rejection is recognised.
-- grain: profile, model, experiment, language, rejection_type
-- An untyped label (`rejection`) has no precision: no answer can name it, and the answers it
-- gets count neither for nor against the type they name.
with

scored_steps as (select * from main.scored_steps where is_scored),

by_label as (
    select
        profile, model, experiment, language,
        actual as rejection_type,
        count(*) as labelled_step_count,
        count(*) filter (where predicted not in ('call', 'failed') and not is_type_mismatch)
            as type_true_positive_count,
        count(*) filter (where is_type_mismatch) as type_mismatch_count,
        count(*) filter (where predicted = 'call') as called_step_count,
        count(*) filter (where predicted = 'failed') as failed_step_count
    from scored_steps
    where actual <> 'call'
    group by profile, model, experiment, language, actual
),

by_answer as (
    select
        profile, model, experiment, language,
        predicted as rejection_type,
        count(*) as answered_step_count,
        count(*) filter (where actual <> predicted) as type_false_positive_count
    from scored_steps
    where predicted not in ('call', 'failed') and actual <> 'rejection'
    group by profile, model, experiment, language, predicted
),

joined as (
    select
        profile, model, experiment, language, rejection_type,
        coalesce(by_label.labelled_step_count, 0) as labelled_step_count,
        coalesce(by_answer.answered_step_count, 0) as answered_step_count,
        coalesce(by_label.type_true_positive_count, 0) as type_true_positive_count,
        coalesce(by_answer.type_false_positive_count, 0) as type_false_positive_count,
        coalesce(by_label.labelled_step_count - by_label.type_true_positive_count, 0)
            as type_false_negative_count,
        coalesce(by_label.type_mismatch_count, 0) as type_mismatch_count,
        coalesce(by_label.called_step_count, 0) as called_step_count,
        coalesce(by_label.failed_step_count, 0) as failed_step_count
    from by_label
    full outer join by_answer using (profile, model, experiment, language, rejection_type)
),

divided as (
    select
        *,
        share(type_true_positive_count, answered_step_count) as type_precision,
        share(type_true_positive_count, labelled_step_count) as type_recall,
        case
            when rejection_type <> 'rejection'
                then
                    2 * share(type_true_positive_count, labelled_step_count + answered_step_count)
        end as type_f1
    from joined
)

select * from divided
