"""Every table: its name, grain and columns. Schemas, checks and the dictionary derive from here."""

from __future__ import annotations

from orchbench_analytics.schema import (
    Table,
    count,
    flag,
    maybe_count,
    maybe_number,
    maybe_text,
    text,
)

# Of what was read: input files, and what they hold as answered

UNKNOWN_LANGUAGE = "unknown"

MODEL_KEY = (
    text("model", "Model name: the alias that the results tree has for it."),
    text("experiment", "Experiment the files belong to; `default` where the tree names none."),
    text("language", "Language of the scenarios: EN, KO, or `unknown` where the tree names none."),
)
CLIENT_MODEL = maybe_text(
    "client_model", "What the client calls the model; null where the tree does not say."
)
SCENARIO_KEY = (*MODEL_KEY, text("scenario", "Scenario, the part of the file name before `_out`."))
RUN_KEY = (*SCENARIO_KEY, text("run", "Run as the document names it, such as `run #1`."))
STEP_KEY = (*RUN_KEY, text("step_id", "Step of the dialogue, as text."))
_PLACES = "model, experiment, language, scenario, run, step_id and answer_position, `-` for none"
STEP_ROW = text(
    "step_key", f"Key of the sub-agent step or answer, to join by; a path of {_PLACES}."
)
PLAN_ROW = text("plan_key", f"Key of the planning step or answer, to join by; a path of {_PLACES}.")
RUN_POSITION = count("run_position", "Place of the run in its document, from 0.")


_AS_STATED = "as the document's usage says; often not this file's own, see `scenario_usage`."

SOURCES = Table(
    "sources",
    "input file",
    (
        text("status", "taken, ignored (known and not needed) or refused."),
        text("path", "Absolute path the file was read from."),
        text(
            "kind",
            "runs, results, judge_log, run_log, agent_card, evaluator_summary, unfinished_results "
            "or unknown.",
        ),
        maybe_text("reason", "Code of why it was ignored, refused, or taken with a repair."),
        maybe_text("message", "The reason in plain words, and what to do about it."),
        maybe_text("place", "Where in the document the problem is, as a JSON path or byte offset."),
        maybe_text("model", "Model the file belongs to; null where it could not be placed."),
        maybe_text("language", "Language the file belongs to."),
        maybe_text("scenario", "Scenario the file is about; null for files about a whole model."),
        maybe_text("run", "Run the file is about; only judge logs are about one run."),
        maybe_text("agent_id", "Agent the file is about; only agent cards are about one."),
        maybe_text("experiment", "Experiment the file belongs to."),
        CLIENT_MODEL,
        count("byte_count", "Size of the file as stored."),
        maybe_text("content_hash", "SHA-256 of the stored bytes; null where it was not read."),
        maybe_text("file_stamp", "By which an unchanged file is recognised: size, times, …"),
        maybe_text("part_id", "Part of the warehouse that holds the file's rows."),
    ),
)
SCENARIOS = Table(
    "scenarios",
    "scenario file of a model",
    (
        *SCENARIO_KEY,
        CLIENT_MODEL,
        maybe_text("scenario_id", "The document's own scenario id."),
        maybe_text("generated_at", "When the document says it was made."),
        maybe_number(
            "generated_seconds",
            "The same as seconds of the event loop, the benchmark's clock; null if it is a date.",
        ),
        count("run_count", "Runs in the document, readable or not."),
        count("numbered_run_count", "Runs of n named `run #1` to `run #n`."),
        count("step_count", "Labelled sub-agent steps over all runs."),
        count("call_key_count", "Labelled sub-agent steps that have a key `N-1`."),
        count("plan_count", "Labelled plans over all runs."),
        count("plan_answer_count", "Entries of the main agent over all runs."),
        count("step_answer_count", "Entries of the sub-agents over all runs."),
        count("missing_answer_count", "Labelled sub-agent steps without an answer."),
        count("missing_plan_count", "Labelled plans without an answer."),
        count(
            "empty_answer_count",
            "Entries of all agents without a call and with a null, absent or blank content.",
        ),
        count("surplus_answer_count", "Sub-agent answers to no labelled step, or given twice."),
        count("unreadable_run_count", "Runs that are not objects."),
        count("unreadable_entry_count", "Histories, answers and labels of no readable shape."),
        maybe_text("unreadable_places", "JSON paths of what could not be read, the first few."),
        count(
            "least_counter_count",
            "Least that a counter of calls which is read after each run and never reset adds up "
            "to: the answers of the first run as often as there are runs, of the last once.",
        ),
        maybe_count("usage_call_count", f"Model calls, {_AS_STATED}"),
        maybe_count("input_token_count", f"Input tokens, {_AS_STATED}"),
        maybe_count("output_token_count", f"Output tokens, {_AS_STATED}"),
        maybe_count("total_token_count", f"All tokens, {_AS_STATED}"),
        maybe_number("total_cost", f"Cost, {_AS_STATED}"),
        maybe_text(
            "label_signature",
            "Hash of the agents and tools that the labels ask for, in their order, which "
            "translations have in common; null without labels.",
        ),
    ),
)
STEP_KIND = maybe_text(
    "step_kind",
    "What the answer's step id is in JSON, or absent; no_object where the entry is not an object; "
    "without an answer null, or history_null, history_absent, … where the history is not a list.",
)
CONTENT_KIND = maybe_text(
    "content_kind",
    "What the answer's content is in JSON: text, null, number, boolean, list, object; or absent. "
    "Of a plan also broken_text, where � stands for half a character.",
)
QUESTION = maybe_text(
    "question", "What the user said last before this step; null if nothing was said."
)
STEPS = Table(
    "steps",
    "labelled sub-agent step of a run, with its answer; answer that fits no such step; and run "
    "that has neither, as its history is not a list",
    (
        *STEP_KEY,
        RUN_POSITION,
        flag("has_label", "The label has this step, with an agent."),
        maybe_text("label_agent_id", "Agent that the label names."),
        maybe_text("label_content", "Text of the label."),
        maybe_text("label_calls", "Gold calls as JSON, name and arguments only; null where none."),
        flag("has_call_key", "The label has a key `N-1` for this step."),
        maybe_count("answer_position", "Place of the answer in the sub-agents' history, from 0."),
        maybe_count("answer_number", "1 for the first answer to this step, 2 for the second, …"),
        maybe_text("answer_agent_id", "Agent that answered."),
        maybe_text("answer_content", "Text of the answer, as given."),
        maybe_text("answer_calls", "Calls of the answer as JSON, name and arguments as given."),
        STEP_KIND,
        CONTENT_KIND,
        QUESTION,
        STEP_ROW,
    ),
)
PLANS = Table(
    "plans",
    "labelled planning step of a run, with its answer; and main-agent entry that fits no such step",
    (
        *STEP_KEY,
        RUN_POSITION,
        flag("is_numbered_run", "Of n runs, this one is named `run #1` to `run #n`."),
        maybe_text("label_content", "Gold plan as YAML; null where the label has none here."),
        maybe_count("answer_position", "Place of the answer in the main agent's history, from 0."),
        maybe_count("answer_number", "1 for the first answer to this step, 2 for the second, …"),
        maybe_text("answer_content", "Text of the answer, as given."),
        STEP_KIND,
        CONTENT_KIND,
        QUESTION,
        PLAN_ROW,
    ),
)
JUDGEMENTS = Table(
    "judgements",
    "argument key that the benchmark's judge was asked about, or spoke of unasked",
    (
        *RUN_KEY,
        maybe_count("call_index", "Place of the call among the run's judged calls, from 0."),
        maybe_text(
            "argument_key", "The key; null for a surplus answer, and for a log that is cut off."
        ),
        flag("is_asked", "The judge was asked about this key."),
        flag("is_usable", "The judge's answer has counts for this key."),
        maybe_text(
            "unusable_reason",
            "Why there are none: no_answer, no_object, no_key, no_counts, surplus (the call was "
            "answered before), cut_off (the log ends in the middle).",
        ),
        flag("is_unsound", "Its counts are not numbers, or the judge's answer was not logged."),
        flag(
            "is_bare_reasoning",
            "The answer is the reasoning beside a blank content that is not under `choices`.",
        ),
        maybe_count("true_positive_count", "Matches the judge saw."),
        maybe_count("false_positive_count", "Predicted values the judge found unmatched."),
        maybe_count("false_negative_count", "Gold values the judge found unmatched."),
        maybe_text(
            "exact_counts",
            "The three counts as a JSON list, where they are fractions or huge and those before "
            "this column are only the nearest integers.",
        ),
        maybe_text(
            "answer_values", "The answer's values of the key as the log has them, JSON list."
        ),
        maybe_text("label_values", "The label's values of the key as the log has them, JSON list."),
        maybe_number(
            "judged_seconds",
            "When the log was written, in seconds of the benchmark's clock; null if it is a date.",
        ),
    ),
)
TOOL_PARAMETERS = Table(
    "tool_parameters",
    "parameter of a tool in an agent card",
    (
        text(
            "language",
            "Language of the card; `unknown` where the tree names none: it is for all languages.",
        ),
        text("agent_id", "Agent that has the tool."),
        text("tool", "Name of the tool."),
        text("argument_key", "Name of the parameter."),
        maybe_text("value_type", "Type the schema names; the first where it is a list."),
        flag("has_enum", "The parameter or its items are limited to listed values."),
        maybe_text("pattern", "Regular expression that values must match."),
        count("tool_order", "Place of the tool among all cards of the language."),
    ),
)
EXPECTED_SCENARIOS = Table(
    "expected_scenarios",
    "scenario of the whole sweep, as ingest was told to expect",
    (
        maybe_text("language", "Language of the scenario; null where only a number was told."),
        maybe_text("scenario", "Its name, as in file names; null where only a number was told."),
    ),
)
REPORTED_FIGURES = (
    text("figure", "Name of the figure, as the evaluator has it."),
    maybe_number("value", "The figure as reported; null where the file has no number."),
    maybe_text("message", "What the file says there, where it is an error; null for figures."),
)
REPORTED_SCENARIOS = Table(
    "reported_scenarios",
    "figure of a scenario in an evaluator's result file",
    (*SCENARIO_KEY, *REPORTED_FIGURES),
)
REPORTED_MODELS = Table(
    "reported_models",
    "figure of a model in an evaluator's result file",
    (*MODEL_KEY, *REPORTED_FIGURES),
)
RUN_LOGS = Table(
    "run_logs",
    "log of the benchmark while it ran a model in a language",
    (
        *MODEL_KEY,
        count("failed_request_count", "Requests that ended with an HTTP status of 400 or above."),
        count("rate_limited_request_count", "Failed requests with the status 429."),
        count("retried_request_count", "Requests that the client sent once more."),
        count("logged_error_count", "Lines that the benchmark itself logged as errors."),
        maybe_text("first_error", "The first of these errors, at most 300 characters of it."),
    ),
)

# Of what was scored: every row under a profile

PROFILE_NAME = text("profile", "Profile of scoring rules the row was scored under.")
_STEP = (
    PROFILE_NAME,
    *STEP_KEY,
    maybe_count("answer_position", "Place of the answer in the sub-agents' history, from 0."),
    STEP_ROW,
)
_PLAN = (
    PROFILE_NAME,
    *STEP_KEY,
    maybe_count("answer_position", "Place of the answer in the main agent's history, from 0."),
    PLAN_ROW,
)
_GRAPH = text("graph", "structure (workflows and dependencies) or component (agents and statuses).")
SCORED_STEPS = Table(
    "scored_steps",
    "sub-agent step or answer of a run, under a profile",
    (
        *_STEP,
        RUN_POSITION,
        maybe_text("agent_id", "Agent of the step: the label's, else the answer's."),
        flag("is_scored", "The row counts in decisions; else `left_out_reason` says why not."),
        maybe_text(
            "left_out_reason",
            "unusable_label, surplus_answer, unlabelled_answer, unanswered_step, no_history (a run "
            "without steps whose history is not a list) or void_file.",
        ),
        text("actual", "What the label wants: call, a rejection type, or rejection (untyped)."),
        text("predicted", "What was answered: call, a rejection type, or failed."),
        maybe_text(
            "failure_reason", "missing, empty, malformed or text, where predicted is failed."
        ),
        maybe_text("call_source", "tool_calls, or content where the call was written as text."),
        maybe_text("label_tools", "Names of the gold calls, sorted, as a JSON list."),
        maybe_text("answer_tools", "Names of the answered calls, sorted, as a JSON list."),
        maybe_count("judge_index", "Place of the call among the run's judged calls, from 0."),
        flag("is_type_mismatch", "Rightly rejected, but with another type than the label's."),
        flag(
            "is_malformed",
            "The answer has a defect: arguments that are not an object, a nameless call, …",
        ),
        count("true_positive_reject_count", "1 if rejected and so labelled."),
        count("true_negative_reject_count", "1 if called and so labelled."),
        count("false_positive_reject_count", "1 if rejected where a call was labelled."),
        count("false_negative_reject_count", "1 if not rejected where a rejection was labelled."),
        count("true_positive_call_count", "1 if called and so labelled."),
        count("true_negative_call_count", "1 if not called where a rejection was labelled."),
        count("false_positive_call_count", "1 if called where a rejection was labelled."),
        count("false_negative_call_count", "1 if not called where a call was labelled."),
        count("failed_generation_count", "1 if neither call nor rejection could be read."),
        flag("is_call_scored", "The row counts in name, key and value F1."),
        count("name_true_positive_count", "Tool names on both sides."),
        count("name_false_positive_count", "Tool names of the answer only."),
        count("name_false_negative_count", "Tool names of the label only."),
        count("key_true_positive_count", "Argument keys on both sides."),
        count("key_false_positive_count", "Argument keys of the answer only."),
        count("key_false_negative_count", "Argument keys of the label only."),
        count("value_true_positive_count", "Argument values that match."),
        count("value_false_positive_count", "Argument values of the answer that match none."),
        count("value_false_negative_count", "Argument values of the label that match none."),
        maybe_number(
            "name_f1", "F1 of the sets of tool names, 0 to 1; null where not call-scored."
        ),
        maybe_number(
            "key_f1", "F1 of the sets of argument keys, 0 to 1; null where not call-scored."
        ),
        maybe_number("value_f1", "F1 of argument values, 0 to 1; null where not call-scored."),
    ),
)
SCORED_ARGUMENTS = Table(
    "scored_arguments",
    "argument key of a call-scored step, under a profile",
    (
        *_STEP,
        text("argument_key", "Name of the argument."),
        count("true_positive_count", "Values that match."),
        count("false_positive_count", "Values of the answer that match none."),
        count("false_negative_count", "Values of the label that match none."),
        text("decided_by", "compared, or judge where its verdict was used."),
        flag(
            "is_pattern_unchecked",
            "The key counts as fitting its schema's pattern, which took too long to try.",
        ),
        maybe_text("answer_values", "The answer's values as compared, a JSON list of texts."),
        maybe_text("label_values", "The label's values as compared, a JSON list of texts."),
    ),
)
SCORED_PLANS = Table(
    "scored_plans",
    "planning step of a run, under a profile",
    (
        *_PLAN,
        flag("is_scored", "The row is a plan that counts; else `left_out_reason` says why not."),
        maybe_text(
            "left_out_reason",
            "unreadable_label, surplus_answer, unlabelled_answer, unnumbered_run, void_run.",
        ),
        flag("is_failed", "No workflow could be read from the answer."),
        text("read_as", "How the answer was read, or why it could not be."),
        flag("is_malformed", "The plan has parts that are not of the expected shape."),
        count(
            "failed_generation_count", "Failures this row adds to the count of failed generations."
        ),
        maybe_number("structure_distance", "Graph edit distance of the workflow graphs."),
        maybe_number("structure_lower_bound", "Proven least distance; equals it where exact."),
        maybe_number("structure_similarity", "1 - distance / size of both graphs; 0 where failed."),
        maybe_number("component_distance", "Graph edit distance of the step graphs."),
        maybe_number("component_lower_bound", "Proven least distance; equals it where exact."),
        maybe_number("component_similarity", "1 - distance / size of both graphs; 0 where failed."),
        maybe_number("plan_similarity", "Mean of both similarities; 0 where failed."),
        flag("is_ged_exact", "Both distances are exact, not bounded by the step budget."),
        maybe_count("label_workflow_count", "Workflows of the gold plan."),
        maybe_count("label_dependency_count", "Dependencies of the gold plan."),
        maybe_count("label_step_count", "Distinct (agent, status) steps of the gold plan."),
        maybe_count("answer_workflow_count", "Workflows of the answered plan."),
        maybe_count("answer_dependency_count", "Dependencies of the answered plan."),
        maybe_count("answer_step_count", "Distinct (agent, status) steps of the answered plan."),
    ),
)
PLAN_EDITS = Table(
    "plan_edits",
    "edit of an optimal path from the answered plan to the gold one, under a profile",
    (
        *_PLAN,
        _GRAPH,
        count("edit_number", "Place of the edit in its path, from 0."),
        text("kind", "What is wrong, such as missing_workflow or wrong_agent."),
        text("subject", "What the edit is about."),
        maybe_text("wanted", "What the label has."),
        maybe_text("given", "What the answer has."),
        maybe_number("cost", "Cost of the edit; the costs of a path add up to its distance."),
    ),
)
PLAN_MATCHES = Table(
    "plan_matches",
    "node of an answered plan that stands for a node of the gold plan with another name",
    (
        *_PLAN,
        _GRAPH,
        text("answer_node", "The node of the answer."),
        text("label_node", "The node of the label that it was matched with."),
    ),
)
# Of a result file without runs, what its rows do not say is null.
SCENARIO_SCORES = Table(
    "scenario_scores",
    "scenario file of a model, under a profile",
    (
        PROFILE_NAME,
        *SCENARIO_KEY,
        maybe_count("run_count", "Runs of the file, readable or not."),
        count("call_label_count", "Scored steps whose label is a call."),
        count("rejection_label_count", "Scored steps whose label is a rejection, typed or not."),
        count(
            "call_scored_count",
            "Steps that count in name, key and value F1.",
            label="scored calls",
        ),
        count(
            "call_case_count",
            "Cases of calls as the profile counts them: scored labels, or keys `N-1`.",
        ),
        count("rejection_case_count", "Cases of rejections as the profile counts them."),
        count("true_positive_reject_count", "Steps rejected and so labelled."),
        count("true_negative_reject_count", "Steps called and so labelled."),
        count("false_positive_reject_count", "Steps rejected where a call was labelled."),
        count("false_negative_reject_count", "Steps not rejected where a rejection was labelled."),
        count("true_positive_call_count", "Steps called and so labelled."),
        count("true_negative_call_count", "Steps not called where a rejection was labelled."),
        count("false_positive_call_count", "Steps called where a rejection was labelled."),
        count("false_negative_call_count", "Steps not called where a call was labelled."),
        maybe_count(
            "type_mismatch_count", "Steps rightly rejected with another type than the label's."
        ),
        maybe_count("failed_generation_count", "Steps that are neither call nor rejection."),
        maybe_count("call_run_count", "Runs that the file's call scores are the mean of."),
        maybe_number(
            "name_f1", "Mean over runs of the F1 of tool names, 0 to 1; null without call labels."
        ),
        maybe_number(
            "key_f1", "Mean over runs of the F1 of argument keys, 0 to 1; null without call labels."
        ),
        maybe_number(
            "value_f1",
            "Mean over runs of the F1 of argument values, 0 to 1; null without call labels.",
        ),
        count("plan_count", "Plans that count."),
        maybe_count("failed_plan_count", "Plans that count and could not be read."),
        count(
            "failed_plan_generation_count",
            "Failures as the profile counts them: of plans, or of entries.",
        ),
        count("plan_with_failure_count", "What plan similarity is divided by under the profile."),
        count(
            "plan_without_failure_count",
            "What read plan similarity is divided by under the profile.",
        ),
        maybe_number("plan_similarity_sum", "Sum of plan similarity over plans, failed ones as 0."),
        maybe_number(
            "structure_similarity_sum", "Sum of structure similarity over plans, failed ones as 0."
        ),
        maybe_number(
            "component_similarity_sum", "Sum of component similarity over plans, failed ones as 0."
        ),
        maybe_number(
            "plan_similarity", "Similarity of plans, failed ones as 0; null without plans."
        ),
        maybe_number(
            "read_plan_similarity",
            "Similarity without failed plans, as the profile leaves them out; null if all failed.",
        ),
        maybe_number(
            "structure_similarity",
            "Similarity of workflow graphs, failed plans as 0; null without plans.",
        ),
        maybe_number(
            "component_similarity",
            "Similarity of step graphs, failed plans as 0; null without plans.",
        ),
        maybe_count(
            "inexact_plan_count", "Plans with a distance bounded by the step budget, not exact."
        ),
        maybe_count("left_out_plan_count", "Planning answers or labels that do not count."),
        maybe_count("unusable_label_count", "Steps left out since their label cannot be used."),
        maybe_count("surplus_answer_count", "Answers left out since their step has one already."),
        maybe_count("unlabelled_answer_count", "Answers left out since no label has their step."),
        maybe_count("unanswered_step_count", "Labelled steps left out since they have no answer."),
        maybe_count("void_step_count", "Steps left out since one malformed answer voids the file."),
    ),
)

RAW_TABLES = (SCENARIOS, STEPS, PLANS, JUDGEMENTS, REPORTED_SCENARIOS, REPORTED_MODELS, RUN_LOGS)
STEP_SCORES = (SCORED_STEPS, SCORED_ARGUMENTS)
PLAN_SCORES = (SCORED_PLANS, PLAN_EDITS, PLAN_MATCHES)
SCORED_TABLES = (*STEP_SCORES, *PLAN_SCORES, SCENARIO_SCORES)
TABLES: dict[str, Table] = {
    t.name: t for t in (SOURCES, EXPECTED_SCENARIOS, *RAW_TABLES, TOOL_PARAMETERS, *SCORED_TABLES)
}
