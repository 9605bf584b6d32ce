-- Why answers failed: sub-agent steps that are neither call nor rejection, plans without workflow.
-- grain: profile, model, experiment, language, unit, failure_reason
-- A reason that never occurs has no row.
with

scored_steps as (select * from main.scored_steps where is_scored),
scored_plans as (select * from main.scored_plans where is_scored),

answers as (
    select
        profile, model, experiment, language,
        'step' as unit,
        predicted = 'failed' as is_failed,
        failure_reason
    from scored_steps
    union all
    select
        profile, model, experiment, language,
        'plan' as unit,
        is_failed,
        read_as as failure_reason
    from scored_plans
),

totals as (
    select
        profile, model, experiment, language, unit,
        count(*) as scored_unit_count,
        count(*) filter (where is_failed) as failed_unit_count
    from answers
    group by profile, model, experiment, language, unit
),

reasons as (
    select
        profile, model, experiment, language, unit, failure_reason,
        count(*) as failure_count
    from answers
    where is_failed
    group by profile, model, experiment, language, unit, failure_reason
),

divided as (
    select
        reasons.*,
        totals.scored_unit_count, totals.failed_unit_count,
        share(reasons.failure_count, totals.scored_unit_count) as failure_rate,
        share(reasons.failure_count, totals.failed_unit_count) as failure_share
    from reasons
    inner join totals using (profile, model, experiment, language, unit)
)

select * from divided
