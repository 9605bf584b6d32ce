-- What became of the judge's verdicts on a model: asked, usable, used, and what they changed.
-- grain: profile, model, experiment, language
-- Only models with judge logs have a row. A usable verdict stays unused where its log is about
-- other values than the answer's, or where the profile does not send the key to the judge.
with

profiles as (select * from main.profiles),
judgements as (select * from main.judgements),
judge_effects as (select * from main.judge_effects),

asked as (
    select
        model, experiment, language,
        count(*) filter (where is_asked) as asked_key_count,
        count(*) filter (where is_asked and is_usable) as answered_key_count,
        count(*) filter (where not is_asked and argument_key is not null) as unasked_key_count,
        count(*) filter (where is_usable) as usable_key_count,
        count(*) filter (where is_asked and unusable_reason = 'no_answer') as no_answer_count,
        count(*) filter (where is_asked and unusable_reason = 'no_object') as no_object_count,
        count(*) filter (where is_asked and unusable_reason = 'no_key') as no_key_count,
        count(*) filter (where is_asked and unusable_reason = 'no_counts') as no_verdict_count,
        count(*) filter (where unusable_reason = 'surplus') as surplus_verdict_count,
        count(*) filter (where unusable_reason = 'cut_off') as cut_off_log_count
    from judgements
    group by model, experiment, language
),

used as (
    select
        profile, model, experiment, language,
        count(*) as used_key_count,
        count(*) filter (where is_changed) as changed_key_count,
        count(*) filter (where value_f1_change > 1e-9) as raised_key_count,
        count(*) filter (where value_f1_change < -1e-9) as lowered_key_count
    from judge_effects
    group by profile, model, experiment, language
),

joined as (
    select
        profiles.profile,
        asked.*,
        coalesce(used.used_key_count, 0) as used_key_count,
        asked.usable_key_count - coalesce(used.used_key_count, 0) as unused_key_count,
        coalesce(used.changed_key_count, 0) as changed_key_count,
        coalesce(used.raised_key_count, 0) as raised_key_count,
        coalesce(used.lowered_key_count, 0) as lowered_key_count
    from asked
    cross join profiles
    left join used using (profile, model, experiment, language)
),

divided as (
    select
        *,
        share(answered_key_count, asked_key_count) as usable_rate,
        share(used_key_count, usable_key_count) as used_rate,
        share(changed_key_count, used_key_count) as changed_rate
    from joined
)

select * from divided
