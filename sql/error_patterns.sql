-- How a model decides wrongly: how often each pattern occurs, of the steps on which it could.
-- grain: profile, model, experiment, language, error_pattern
-- Patterns exclude each other and are counted as seen, whatever a profile's totals print:
-- overaction: a rejection was wanted, and a tool was called
-- underaction: a call was wanted, and it was rejected
-- type_mismatch: rightly rejected, with another type than the label's
-- failed_call, failed_rejection: neither call nor rejection could be read where one was wanted
with

scored_steps as (select * from main.scored_steps where is_scored),

patterns as (
    select * from (
        values
        ('overaction'), ('underaction'), ('type_mismatch'), ('failed_call'), ('failed_rejection')
    ) as patterns (error_pattern)
),

counted as (
    select
        profile, model, experiment, language,
        count(*) filter (where actual = 'call') as call_label_count,
        count(*) filter (where actual <> 'call') as rejection_label_count,
        count(*) filter (where actual <> 'call' and predicted not in ('call', 'failed'))
            as rejected_step_count,
        count(*) filter (where actual <> 'call' and predicted = 'call') as overaction_count,
        count(*) filter (where actual = 'call' and predicted not in ('call', 'failed'))
            as underaction_count,
        count(*) filter (where is_type_mismatch) as type_mismatch_count,
        count(*) filter (where actual = 'call' and predicted = 'failed') as failed_call_count,
        count(*) filter (where actual <> 'call' and predicted = 'failed') as failed_rejection_count
    from scored_steps
    group by profile, model, experiment, language
),

unpivoted as (
    select
        counted.profile, counted.model, counted.experiment, counted.language,
        patterns.error_pattern,
        case patterns.error_pattern
            when 'overaction' then counted.overaction_count
            when 'underaction' then counted.underaction_count
            when 'type_mismatch' then counted.type_mismatch_count
            when 'failed_call' then counted.failed_call_count
            when 'failed_rejection' then counted.failed_rejection_count
        end as occurrence_count,
        case patterns.error_pattern
            when 'overaction' then counted.rejection_label_count
            when 'underaction' then counted.call_label_count
            when 'type_mismatch' then counted.rejected_step_count
            when 'failed_call' then counted.call_label_count
            when 'failed_rejection' then counted.rejection_label_count
        end as opportunity_count,
        counted.overaction_count
        + counted.underaction_count
        + counted.type_mismatch_count
        + counted.failed_call_count
        + counted.failed_rejection_count as wrong_step_count
    from counted
    cross join patterns
),

divided as (
    select
        *,
        share(occurrence_count, opportunity_count) as occurrence_rate,
        share(occurrence_count, wrong_step_count) as error_share
    from unpivoted
)

select * from divided
