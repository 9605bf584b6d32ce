-- How hard a scenario is, whether it tells models apart, and whether its labels are in doubt.
-- grain: profile, language, scenario
-- An attempt is a model in an experiment. Scores are those of `scenario_means`, not the headline.
-- discrimination: correlation, over attempts, of the score here with the mean score of the
-- attempt's other scenarios; null with fewer than three attempts, or where either does not vary
-- dead: at least two attempts, and all have the same score
-- suspicious: every strong attempt (see `model_strengths`) fails, that is, scores less than half of
-- its own overall score; null where there is no strong attempt
with

scenario_means as (
    select * from main.scenario_means
    where scenario_score is not null
),

model_strengths as (
    select * from main.model_strengths
),

compared as (
    select
        profile,
        language,
        scenario_means.scenario,
        scenario_means.scenario_score,
        share(
            model_strengths.scenario_score_sum - scenario_means.scenario_score,
            model_strengths.scenario_count - 1
        ) as other_score,
        model_strengths.is_strong,
        scenario_means.scenario_score < model_strengths.overall_score / 2 as is_failing
    from scenario_means
    inner join model_strengths using (profile, model, experiment, language)
),

paired as (
    select
        *,
        case when other_score is not null then scenario_score end as paired_score
    from compared
),

summed as (
    select
        profile,
        language,
        scenario,
        count(*) as attempt_count,
        from_units(sum(to_units(scenario_score))) as scenario_score_sum,
        min(scenario_score) as least_score,
        max(scenario_score) as greatest_score,
        max(scenario_score) - min(scenario_score) as score_range,
        count(other_score) as pair_count,
        from_units(sum(to_units(paired_score))) as paired_score_sum,
        max(paired_score) - min(paired_score) as paired_range,
        from_units(sum(to_units(other_score))) as other_score_sum,
        max(other_score) - min(other_score) as other_range,
        count(*) filter (where is_strong) as strong_attempt_count,
        count(*) filter (where is_strong and is_failing) as failing_strong_attempt_count
    from paired
    group by profile, language, scenario
),

-- Distances from the mean, as shares of the range: neither too small nor too large for units.
centred as (
    select
        profile,
        language,
        scenario,
        share(
            paired.scenario_score - share(summed.scenario_score_sum, summed.attempt_count),
            summed.score_range
        ) as score_offset,
        share(
            paired.paired_score - share(summed.paired_score_sum, summed.pair_count),
            summed.paired_range
        ) as paired_offset,
        share(
            paired.other_score - share(summed.other_score_sum, summed.pair_count),
            summed.other_range
        ) as other_offset
    from paired
    inner join summed using (profile, language, scenario)
),

spread as (
    select
        profile,
        language,
        scenario,
        from_units(sum(to_units(score_offset * score_offset))) as score_square_sum,
        from_units(sum(to_units(paired_offset * paired_offset))) as paired_square_sum,
        from_units(sum(to_units(other_offset * other_offset))) as other_square_sum,
        from_units(sum(to_units(paired_offset * other_offset))) as product_sum
    from centred
    group by profile, language, scenario
),

described as (
    select
        profile,
        language,
        scenario,
        summed.attempt_count,
        summed.scenario_score_sum,
        share(summed.scenario_score_sum, summed.attempt_count) as mean_scenario_score,
        summed.least_score,
        summed.greatest_score,
        summed.score_range,
        case
            when summed.attempt_count >= 2
                then
                    summed.score_range
                    * sqrt(share(coalesce(spread.score_square_sum, 0), summed.attempt_count - 1))
        end as score_deviation,
        case
            when
                summed.pair_count >= 3
                and summed.paired_range > 1e-9
                and summed.other_range > 1e-9
                then
                    spread.product_sum
                    / sqrt(spread.paired_square_sum * spread.other_square_sum)
        end as discrimination,
        case when summed.attempt_count >= 2 then summed.score_range <= 1e-9 end as is_dead,
        summed.strong_attempt_count,
        summed.failing_strong_attempt_count,
        case
            when summed.strong_attempt_count > 0
                then summed.failing_strong_attempt_count = summed.strong_attempt_count
        end as is_suspicious
    from summed
    inner join spread using (profile, language, scenario)
)

select * from described
