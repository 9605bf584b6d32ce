"""The tables that statistics come in, each with its grain and its columns in order of interest."""

from __future__ import annotations

from orchbench_analytics.schema import (
    Table,
    count,
    maybe_count,
    maybe_number,
    maybe_text,
    text,
)
from orchbench_analytics.tables import PROFILE_NAME

_MODEL = text("model", "Model name, as the results tree has it.")
_EXPERIMENT = text("experiment", "Experiment the files belong to.")
_LANGUAGE = text("language", "EN, KO, …, or `mean` for the mean over the model's languages.")
_ONE_LANGUAGE = text("language", "Language of the scenarios.")
_METRIC = text("metric", "Name of the metric, as `model_scores` has it.")
_LOW = maybe_number("low", "Lower end of the interval; null with fewer than two clusters.")
_HIGH = maybe_number("high", "Upper end of the interval; null with fewer than two clusters.")
_ERROR = maybe_number(
    "standard_error", "Standard error, by the jack-knife over clusters; null with fewer than two."
)
_CLUSTERS = count(
    "cluster_count",
    "Clusters of scenarios that say something about the metric: a scenario and its translations "
    "are one.",
)
_COVERAGE = maybe_number("coverage", "Share of the sweep's scenarios that the model has, 0 to 1.")

INTERVALS = Table(
    "intervals",
    "metric of a model, by language and for the mean over its languages",
    (
        _MODEL,
        _METRIC,
        _LANGUAGE,
        maybe_number("value", "The metric, unrounded; null where it is undefined."),
        _LOW,
        _HIGH,
        _ERROR,
        count("scenario_count", "Scenarios that have something to say about the metric."),
        _CLUSTERS,
        _COVERAGE,
        _EXPERIMENT,
        PROFILE_NAME,
    ),
)
RANK_INTERVALS = Table(
    "rank_intervals",
    "model and experiment under a profile",
    (
        maybe_count(
            "rank_number",
            "Rank by average_score, 1 is best; equal scores share a rank. Null if unranked.",
        ),
        _MODEL,
        maybe_number(
            "average_score",
            "Mean over languages of the average score: of ranked models over the scenarios that "
            "all of them have, of others over their own.",
        ),
        _LOW,
        _HIGH,
        maybe_count("rank_low", "Best rank of a set that holds together with those of all models."),
        maybe_count("rank_high", "Worst rank of that set; null if unranked."),
        maybe_count(
            "tier_number",
            "Models of a tier cannot be told apart from its best one; 1 is the top tier.",
        ),
        maybe_number(
            "expected_score",
            "Estimate of the average score over all scenarios of the sweep, 0 to 1: what is "
            "missing is filled in from a two-way fit of model and scenario effects, which assumes "
            "that what is hard for one model is hard for all.",
        ),
        maybe_number("expected_low", "Lower end of the interval of expected_score."),
        maybe_number("expected_high", "Upper end of the interval of expected_score."),
        _COVERAGE,
        count("scenario_count", "Scenarios of the sweep that the model has a file of."),
        count("sweep_scenario_count", "Scenarios that some model has or that are expected."),
        count("refused_file_count", "Files of the model that could not be read."),
        maybe_text("unranked_reason", "Why the model has no rank; null if it has one."),
        _EXPERIMENT,
        PROFILE_NAME,
    ),
)
STANDINGS = Table(
    "standings",
    "model and experiment of a sweep that may still be running",
    (
        count("rank_low", "Best rank that the scenarios so far leave open; it holds at any time."),
        count("rank_high", "Worst rank that they leave open; the rank is certain if both agree."),
        _MODEL,
        maybe_number("average_score", "Mean over languages of the average score so far."),
        maybe_number("low", "Lower end of its interval, which holds at every look together."),
        maybe_number("high", "Upper end of that interval."),
        count("scenario_count", "Scenarios of the sweep that the model has a file of."),
        count("sweep_scenario_count", "Scenarios that some model has or that are expected."),
        _EXPERIMENT,
        PROFILE_NAME,
    ),
)
_CANDIDATE = text("candidate_model", "Model under test.", label="candidate")
_BASELINE = text("baseline_model", "Model compared against.", label="baseline")
_EXPERIMENTS = (
    text("candidate_experiment", "Experiment of the candidate."),
    text("baseline_experiment", "Experiment of the baseline."),
)
_BASELINE_VALUE = maybe_number(
    "baseline_value",
    "The baseline's metric: over common scenarios, or on the driver alone; null if undefined.",
    label="baseline score",
)
_CANDIDATE_VALUE = maybe_number(
    "candidate_value",
    "The candidate's metric: over common scenarios, or on the driver alone; null if undefined.",
    label="candidate score",
)
COMPARISONS = Table(
    "comparisons",
    "metric of a baseline and a candidate, by language and for the mean over languages",
    (
        _CANDIDATE,
        _BASELINE,
        _METRIC,
        _LANGUAGE,
        text(
            "verdict",
            "Of the candidate: better or worse if the interval leaves out 0, no difference shown, "
            "or too little data (no result on so few scenarios could have been significant).",
        ),
        maybe_number(
            "difference", "Candidate - baseline, -1 to 1: above 0 the candidate is better."
        ),
        maybe_number(
            "low",
            "Lower end of the interval that the verdict uses; it holds together with those of all "
            "rows of the comparison. Null if there is too little data.",
        ),
        maybe_number("high", "Upper end of that interval."),
        _BASELINE_VALUE,
        _CANDIDATE_VALUE,
        maybe_number(
            "p_value",
            "Two-sided p of the paired t test over clusters, corrected for all rows of the "
            "comparison (Westfall-Young).",
            label="p",
        ),
        count("scenario_count", "Scenarios that both have and that say something on the metric."),
        _CLUSTERS,
        maybe_number(
            "effect_size",
            "difference / (standard_error x sqrt(cluster_count)): for a mean Cohen's d_z, the "
            "difference in standard deviations of cluster differences; null without spread.",
            label="effect",
        ),
        maybe_number(
            "detectable_difference",
            "Smallest true difference that gets a verdict with 80 % power: half the interval + "
            "t_80 x standard_error.",
            label="detectable",
        ),
        _ERROR,
        maybe_number(
            "low_guarded",
            "Lower end that also holds for rare losses that these scenarios do not show (Gaffke's "
            "limit); a gate is held only if this meets it.",
        ),
        maybe_number("low_unadjusted", "Lower end of the interval of this row alone."),
        maybe_number("high_unadjusted", "Upper end of the interval of this row alone."),
        maybe_number("p_unadjusted", "p of this row alone, the same whatever else is compared."),
        *_EXPERIMENTS,
        PROFILE_NAME,
    ),
)
TRENDS = Table(
    "trends",
    "metric under a profile, over a numeric tag of models",
    (
        text("tag", "Column of `model_tags` with the number."),
        _METRIC,
        text("verdict", "rising, falling, no trend shown, or too little data."),
        maybe_number("change", "slope x (highest_number - lowest_number), as the line has it."),
        maybe_number("low", "Lower end of the change's interval, which holds with all rows'."),
        maybe_number("high", "Upper end of the change's interval, which holds with all rows'."),
        maybe_number("slope", "Least squares: change of the metric for one more of the number."),
        maybe_number(
            "scatter",
            "Standard deviation of the models about the line; null with fewer than three models.",
        ),
        count("model_count", "Models that have the number."),
        count("scenario_count", "Scenarios that all of them have."),
        maybe_number("lowest_number", "The least number of a model."),
        maybe_number("highest_number", "The greatest number of a model."),
        PROFILE_NAME,
    ),
)
DRIVERS = Table(
    "drivers",
    "scenario, agent or tool that two models share",
    (
        maybe_text("driver", "The scenario, agent or tool; null for steps without any."),
        maybe_number(
            "contribution",
            "Part of the difference (candidate - baseline) of the mean over languages that is made "
            "here; adds up to it.",
        ),
        _BASELINE_VALUE,
        _CANDIDATE_VALUE,
        maybe_text("language", "Language of the scenario; null for agents and tools."),
        _METRIC,
        _CANDIDATE,
        _BASELINE,
        *_EXPERIMENTS,
        PROFILE_NAME,
    ),
)
LANGUAGE_GAPS = Table(
    "language_gap_intervals",
    "metric of a model and pair of languages",
    (
        _MODEL,
        _METRIC,
        _ONE_LANGUAGE,
        text("reference_language", "Language it is compared with."),
        maybe_number("gap", "The metric in `language` less that in `reference_language`."),
        _LOW,
        _HIGH,
        _ERROR,
        count("pair_count", "Scenarios that are compared with their translations."),
        _EXPERIMENT,
        PROFILE_NAME,
    ),
)
COSTS = Table(
    "costs",
    "model and experiment under a profile",
    (
        _MODEL,
        maybe_number("run_cost", "Cost of one run of a scenario; null where it is not known."),
        maybe_number(
            "average_score",
            "Mean over languages of the average score, over the scenarios that all models with a "
            "known cost have.",
        ),
        maybe_number("low", "Lower end of the interval of the score."),
        maybe_number("high", "Upper end of the interval of the score."),
        text(
            "front",
            "Whether no model is at least as good for no more: `on` or `off` if that is certain, "
            "with all models at once, else `likely on` or `likely off`; `unknown` without a cost.",
        ),
        text(
            "cost_basis",
            "`stated` by the files, `priced` from their tokens and the price file, or `unknown`.",
        ),
        maybe_number("run_input_tokens", "Input tokens of one run of a scenario."),
        maybe_number("run_output_tokens", "Output tokens of one run of a scenario."),
        _EXPERIMENT,
        PROFILE_NAME,
    ),
)
PASS_RATES = Table(
    "pass_rates",
    "model, language, criterion and number of runs k",
    (
        _MODEL,
        _ONE_LANGUAGE,
        text("criterion", "decision: decision and type right; answer: calls fully right as well."),
        count("k", "Number of runs."),
        maybe_number("pass_all_rate", "pass^k: chance that k runs of a step are all right, 0-1."),
        maybe_number("pass_all_low", "Lower end of the interval of pass^k, over scenarios."),
        maybe_number("pass_all_high", "Upper end of the interval of pass^k, over scenarios."),
        maybe_number("pass_any_rate", "pass@k: chance that any of k runs is right, 0-1."),
        maybe_number("pass_any_low", "Lower end of the interval of pass@k, over scenarios."),
        maybe_number("pass_any_high", "Upper end of the interval of pass@k, over scenarios."),
        count("step_count", "Steps that the rates are about, the same for every k."),
        count("left_out_step_count", "Steps left out, as they have fewer runs than the largest k."),
        _EXPERIMENT,
        PROFILE_NAME,
    ),
)
FLIPS = Table(
    "flips",
    "model and language",
    (
        _MODEL,
        _ONE_LANGUAGE,
        maybe_number(
            "unstable_step_rate", "unstable_step_count / step_count, 0-1.", label="unstable"
        ),
        maybe_number(
            "unstable_step_low", "Lower end of its interval, over scenarios.", label="unstable low"
        ),
        maybe_number(
            "unstable_step_high",
            "Upper end of its interval, over scenarios.",
            label="unstable high",
        ),
        count("step_count", "Steps with at least two runs."),
        count("unstable_step_count", "Those in which not all runs decide alike."),
        maybe_number("flip_rate", "flipped_pair_count / run_pair_count, 0-1, for any run count."),
        maybe_number("flip_low", "Lower end of the interval of flip_rate, over scenarios."),
        maybe_number("flip_high", "Upper end of the interval of flip_rate, over scenarios."),
        count("run_pair_count", "Pairs of runs of the same step."),
        count("flipped_pair_count", "Those that decide differently."),
        _EXPERIMENT,
        PROFILE_NAME,
    ),
)
RUN_NOISE = Table(
    "run_noise",
    "metric of a model and language",
    (
        _MODEL,
        _ONE_LANGUAGE,
        _METRIC,
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
        count("run_count", "Most runs that a scenario has."),
        _EXPERIMENT,
        PROFILE_NAME,
    ),
)
MODEL_SPREAD = Table(
    "model_spread",
    "metric of a language under a profile",
    (
        _METRIC,
        _ONE_LANGUAGE,
        maybe_number(
            "noise_share",
            "noise_variance / model_variance, at most 1: share of the spread between models that "
            "repeating the runs would make by chance alone.",
        ),
        maybe_number("noise_share_low", "Lower end of its interval, other models being drawn."),
        maybe_number("noise_share_high", "Upper end of its interval, other models being drawn."),
        maybe_count("model_count", "Models with at least two runs."),
        maybe_number("model_variance", "Variance of the models' mean scores."),
        maybe_number("noise_variance", "Mean squared noise_standard_error of the models."),
        PROFILE_NAME,
    ),
)
VARIANCES = Table(
    "variances",
    "metric of a language under a profile",
    (
        _METRIC,
        _ONE_LANGUAGE,
        count("model_count", "Models that have all scenarios of the language."),
        count("scenario_count", "Scenarios of the language."),
        maybe_number("mean_run_count", "Harmonic mean of the number of runs of a scenario."),
        maybe_number("model_variance", "Variance of models, whatever the scenario."),
        maybe_number("scenario_variance", "Variance of scenarios, the same for all models."),
        maybe_number(
            "interaction_variance", "Variance of what a model makes of a scenario, in all runs."
        ),
        maybe_number("run_variance", "Variance of runs of a model on a scenario; null for one."),
        PROFILE_NAME,
    ),
)
SWEEP_PLANS = Table(
    "sweep_plans",
    "metric and number of runs under a profile",
    (
        _METRIC,
        count("run_count", "Runs of each scenario."),
        count("scenario_count", "Scenarios of each language, as there are now (the least)."),
        maybe_number(
            "detectable_difference",
            "Smallest true difference of two models that `compare` calls better or worse with 80 % "
            "power, with so many runs of the scenarios there are.",
            label="detectable",
        ),
        maybe_number("wanted_difference", "The difference that is to be found."),
        maybe_count(
            "needed_scenario_count", "Scenarios of each language that find it with 80 % power."
        ),
        maybe_count("needed_answer_count", "Scenarios x runs x languages of one model for it."),
        PROFILE_NAME,
    ),
)
_PREDICTION_ERROR = maybe_number(
    "prediction_error",
    "Root mean square of full score - prediction, each model predicted from the others; null "
    "without models that have all scenarios.",
)
_MEAN_ERROR = maybe_number(
    "mean_error", "The same of the score over the list, taken for the full score."
)
# Regression predicts better than the mean over the list from three simulated models on, but with
# three to five models its intervals of 95 % covered as few as 91.5 %; those of the mean, 94.4 %
# (50 sweeps for each number of models and size of list).
FEWEST_FOR_REGRESSION = 6
REGRESSION, PLAIN_MEAN = "regression", "mean over the list"
_METHOD = text(
    "method",
    f"{REGRESSION}, or with fewer than {FEWEST_FOR_REGRESSION} models that have everything: "
    f"{PLAIN_MEAN}.",
)
_EXAMPLES = count("model_count", "Models that have all scenarios, from which predictions learn.")
SHORTLISTS = Table(
    "shortlists",
    "scenario of a list that stands for all scenarios",
    (
        _ONE_LANGUAGE,
        text("scenario", "Scenario, as the results tree has it."),
        text("cluster", "The scenario and its translations; its own name if it is alone."),
        _METRIC,
        _PREDICTION_ERROR,
        _MEAN_ERROR,
        _METHOD,
        _EXAMPLES,
        count("sweep_scenario_count", "Scenarios that the list is chosen from."),
        PROFILE_NAME,
    ),
)
PREDICTIONS = Table(
    "predictions",
    "metric of a model that has the scenarios of a list",
    (
        _MODEL,
        _METRIC,
        maybe_number("predicted_score", "Prediction of the metric over all scenarios, 0 to 1."),
        maybe_number(
            "low",
            "Lower end of the interval of the full score, from the errors of models left out; it "
            "assumes that the model is to the others as they are to each other.",
        ),
        maybe_number("high", "Upper end of that interval."),
        maybe_number("list_score", "The metric over the scenarios of the list alone."),
        maybe_number(
            "full_score", "The metric over all scenarios, if the model has them; else null."
        ),
        _METHOD,
        _PREDICTION_ERROR,
        _MEAN_ERROR,
        _EXAMPLES,
        count("scenario_count", "Scenarios of the list."),
        count("sweep_scenario_count", "Scenarios that some other model has."),
        _EXPERIMENT,
        PROFILE_NAME,
    ),
)
STATISTICS = (
    INTERVALS,
    RANK_INTERVALS,
    STANDINGS,
    COMPARISONS,
    TRENDS,
    DRIVERS,
    LANGUAGE_GAPS,
    COSTS,
    PASS_RATES,
    FLIPS,
    RUN_NOISE,
    MODEL_SPREAD,
    VARIANCES,
    SWEEP_PLANS,
    SHORTLISTS,
    PREDICTIONS,
)
