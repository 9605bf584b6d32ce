"""The tables that statistics of runs come in: grain, columns, and what each means."""

from __future__ import annotations

from orchbench_analytics.schema import Table, count, maybe_count, maybe_number, text
from orchbench_analytics.stats.columns import CONTENDER, METRIC, ONE_LANGUAGE, SCORE_STATISTICS
from orchbench_analytics.tables import PROFILE_NAME

PASS_RATES = Table(
    "pass_rates",
    "model, language, criterion and number of runs k",
    (
        *CONTENDER,
        ONE_LANGUAGE,
        text("criterion", "decision: decision and type right; answer: calls fully right as well."),
        count("k", "Number of runs."),
        count("step_count", "Steps that the rates are about, the same for every k."),
        count("left_out_step_count", "Steps left out, as they have fewer runs than the largest k."),
        maybe_number("pass_all_rate", "pass^k: chance that k runs of a step are all right, 0-1."),
        maybe_number("pass_all_low", "Lower end of the interval of pass^k, over scenarios."),
        maybe_number("pass_all_high", "Upper end of the interval of pass^k, over scenarios."),
        maybe_number("pass_any_rate", "pass@k: chance that any of k runs is right, 0-1."),
        maybe_number("pass_any_low", "Lower end of the interval of pass@k, over scenarios."),
        maybe_number("pass_any_high", "Upper end of the interval of pass@k, over scenarios."),
    ),
)
FLIPS = Table(
    "flips",
    "model and language",
    (
        *CONTENDER,
        ONE_LANGUAGE,
        count("step_count", "Steps with at least two runs."),
        count("unstable_step_count", "Those in which not all runs decide alike."),
        count("run_pair_count", "Pairs of runs of the same step."),
        count("flipped_pair_count", "Those that decide differently."),
        maybe_number("unstable_step_rate", "unstable_step_count / step_count, 0-1."),
        maybe_number("unstable_step_low", "Lower end of its interval, over scenarios."),
        maybe_number("unstable_step_high", "Upper end of its interval, over scenarios."),
        maybe_number("flip_rate", "flipped_pair_count / run_pair_count, 0-1, for any run count."),
        maybe_number("flip_low", "Lower end of the interval of flip_rate, over scenarios."),
        maybe_number("flip_high", "Upper end of the interval of flip_rate, over scenarios."),
    ),
)
RUN_NOISE = Table(
    "run_noise",
    "metric of a model and language",
    (
        *CONTENDER,
        ONE_LANGUAGE,
        METRIC,
        count("run_count", "Most runs that a scenario has."),
        maybe_number("mean_value", "Mean of the runs' scores, by how many scenarios each has."),
        maybe_number(
            "run_standard_deviation",
            "Standard deviation of the score of one run over all scenarios, from the variance of "
            "runs within scenarios; null for one run.",
        ),
        maybe_number(
            "noise_standard_error", "Standard deviation, by chance between runs, of the score."
        ),
        maybe_number(
            "intraclass_correlation",
            "ICC(1): share of the variance of scenario scores that the scenario explains, the rest "
            "being chance between runs; up to 1, null without spread or repetition.",
        ),
        maybe_number("intraclass_low", "Lower end of its interval; null if runs never differ."),
        maybe_number("intraclass_high", "Upper end of its interval; null if runs never differ."),
    ),
)
MODEL_SPREAD = Table(
    "model_spread",
    "metric of a language under a profile",
    (
        PROFILE_NAME,
        ONE_LANGUAGE,
        METRIC,
        maybe_count("model_count", "Models with at least two runs."),
        maybe_number("model_variance", "Variance of the models' mean scores."),
        maybe_number("noise_variance", "Mean squared noise_standard_error of the models."),
        maybe_number(
            "noise_share",
            "noise_variance / model_variance, at most 1: share of the spread between models that "
            "repeating the runs would make by chance alone.",
        ),
        maybe_number("noise_share_low", "Lower end of its interval, other models being drawn."),
        maybe_number("noise_share_high", "Upper end of its interval, other models being drawn."),
    ),
)
VARIANCES = Table(
    "variances",
    "metric of a language under a profile",
    (
        PROFILE_NAME,
        ONE_LANGUAGE,
        METRIC,
        count("model_count", "Models that have all scenarios of the language."),
        count("scenario_count", "Scenarios of the language."),
        maybe_number("mean_run_count", "Harmonic mean of the number of runs of a scenario."),
        maybe_number("model_variance", "Variance of models, whatever the scenario."),
        maybe_number("scenario_variance", "Variance of scenarios, the same for all models."),
        maybe_number(
            "interaction_variance", "Variance of what a model makes of a scenario, in all runs."
        ),
        maybe_number("run_variance", "Variance of runs of a model on a scenario; null for one."),
    ),
)
SWEEP_PLANS = Table(
    "sweep_plans",
    "metric and number of runs under a profile",
    (
        PROFILE_NAME,
        METRIC,
        count("run_count", "Runs of each scenario."),
        count("scenario_count", "Scenarios of each language, as there are now (the least)."),
        maybe_number(
            "detectable_difference",
            "Smallest true difference of two models found with 80 % power, with so many runs of "
            "the scenarios there are.",
        ),
        maybe_number("wanted_difference", "The difference that is to be found."),
        maybe_count(
            "needed_scenario_count", "Scenarios of each language that find it with 80 % power."
        ),
        maybe_count("needed_answer_count", "Scenarios x runs x languages of one model for it."),
    ),
)
STATISTICS = (
    *SCORE_STATISTICS,
    PASS_RATES,
    FLIPS,
    RUN_NOISE,
    MODEL_SPREAD,
    VARIANCES,
    SWEEP_PLANS,
)
