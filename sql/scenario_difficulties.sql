-- How hard a scenario is, whether it tells models apart, and whether its labels are in doubt.
-- grain: profile, language, scenario
-- An attempt is a model in an experiment. Scores are those of `scenario_means`, not the headline.
-- discrimination: correlation, over attempts, of the score here with the mean score of the
-- attempt's other scenarios; null with fewer than three attempts, or where either does not vary
-- dead: at least two attempts, and all have the same score
-- suspicious: every strong attempt (see `model_strengths`) fails, that is, scores less than half of
-- its own overall score; null where there is no strong attempt
with

scenario_means as (select * from main.scenario_means where scenario_score is not null),
model_strengths as (select * from main.model_strengths),

compared as (
    select
        profile, language, scenario_means.scenario, scenario_means.scenario_score,
        share(
            model_strengths.scenario_score_sum - scenario_means.scenario_score,
            model_strengths.scenario_count - 1
        ) as other_score,
        model_strengths.is_strong,
        scenario_means.scenario_score < model_strengths.overall_score / 2 as is_failing
    from scenario_means
    inner join model_strengths using (profile, model, experiment, language)
),

-- Spread is measured from the means: sums of plain squares would lose it where it is small.
centred as (
    select
        *,
        scenario_score - share(
            from_units(sum(to_units(scenario_score)) over attempts), count(*) over attempts
        ) as score_offset,
        other_score - share(
            from_units(sum(to_units(other_score)) over attempts), count(other_score) over attempts
        ) as other_offset
    from compared
    window attempts as (partition by profile, language, scenario)
),

paired as (
    select
        *,
        case when other_score is not null then score_offset end as paired_offset
    from centred
),

summed as (
    select
        profile, language, scenario,
        count(*) as attempt_count,
        exact_sum(scenario_score) as scenario_score_sum,
        min(scenario_score) as least_score,
        max(scenario_score) as greatest_score,
        exact_sum(score_offset * score_offset) as score_square_sum,
        count(other_score) as pair_count,
        max(paired_offset) - min(paired_offset) as paired_range,
        exact_sum(paired_offset) as paired_offset_sum,
        exact_sum(paired_offset * paired_offset) as paired_square_sum,
        max(other_score) - min(other_score) as other_range,
        exact_sum(other_offset * other_offset) as other_square_sum,
        exact_sum(score_offset * other_offset) as product_sum,
        count(*) filter (where is_strong) as strong_attempt_count,
        count(*) filter (where is_strong and is_failing) as failing_strong_attempt_count
    from paired
    group by profile, language, scenario
),

described as (
    select
        profile, language, scenario, attempt_count, scenario_score_sum,
        share(scenario_score_sum, attempt_count) as mean_scenario_score,
        least_score, greatest_score,
        greatest_score - least_score as score_range,
        sqrt(share(score_square_sum, attempt_count - 1)) as score_deviation,
        case
            when pair_count >= 3 and paired_range > 1e-9 and other_range > 1e-9
                then
                    product_sum
                    / sqrt(
                        (
                            paired_square_sum
                            - share(paired_offset_sum * paired_offset_sum, pair_count)
                        )
                        * other_square_sum
                    )
        end as discrimination,
        case when attempt_count >= 2 then greatest_score - least_score <= 1e-9 end as is_dead,
        strong_attempt_count, failing_strong_attempt_count,
        case
            when strong_attempt_count > 0
                then failing_strong_attempt_count = strong_attempt_count
        end as is_suspicious
    from summed
)

select * from described
