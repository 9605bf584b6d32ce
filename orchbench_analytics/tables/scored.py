"""The tables of what was scored: every row under a profile."""

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
from orchbench_analytics.tables.raw import RUN_POSITION, SCENARIO_KEY, STEP_KEY

PROFILE_NAME = text("profile", "Profile of scoring rules the row was scored under.")
_STEP = (
    PROFILE_NAME,
    *STEP_KEY,
    maybe_count("answer_position", "Place of the answer in the sub-agents' history, from 0."),
)
_PLAN = (
    PROFILE_NAME,
    *STEP_KEY,
    maybe_count("answer_position", "Place of the answer in the main agent's history, from 0."),
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
