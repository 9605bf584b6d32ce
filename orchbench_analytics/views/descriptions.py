"""What the columns of the views mean, for the data dictionary: one name, one meaning everywhere."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from orchbench_analytics.schema import Column, Kind, Table
from orchbench_analytics.tables import PROFILE_NAME, STEP_KEY, TABLES

if TYPE_CHECKING:
    import duckdb

    from orchbench_analytics.views.catalog import View

# Columns that a view takes over from a table are described in `tables`, unless the view sums them
# up or the tables differ; every other column has its line here.
DESCRIPTIONS: dict[str, str] = {
    # Headline metrics
    "average_score": "Mean of the defined headline metrics, 0 to 1.",
    "call_rejection_f1": "Mean of the F1 of rejecting and the F1 of calling, 0 to 1.",
    "function_call_f1": "FC: mean of name, key and value F1, 0 to 1.",
    "workflow_similarity": "Plan: similarity of plans to their labels, failed ones as 0, 0 to 1.",
    "average_score_en": "Average score in English.",
    "call_rejection_f1_en": "Call/rejection F1 in English.",
    "function_call_f1_en": "FC in English.",
    "workflow_similarity_en": "Plan in English.",
    "average_score_ko": "Average score in Korean.",
    "call_rejection_f1_ko": "Call/rejection F1 in Korean.",
    "function_call_f1_ko": "FC in Korean.",
    "workflow_similarity_ko": "Plan in Korean.",
    "language_count": "Languages the means are over.",
    "rank_number": "Place by average score within the profile; equal scores share a place.",
    # Keys that tables describe each in their own way
    "agent_id": "Agent of the step: the label's, else the answer's.",
    "answer_position": "Place of the answer in its history, from 0; null where nobody answered.",
    "argument_key": "Name of the argument.",
    # Files
    "file_count": "Scenario files, scored and refused.",
    "scored_file_count": "Scenario files that were scored.",
    "refused_file_count": "Scenario files that could not be read.",
    "run_count": "Runs of the files, readable or not.",
    # Decisions
    "scored_step_count": "Sub-agent steps that count in decisions.",
    "call_label_count": "Scored steps whose label is a call.",
    "rejection_label_count": "Scored steps whose label is a rejection, typed or not.",
    "call_case_count": "Cases of calls as the profile counts them: scored labels, or keys `N-1`.",
    "rejection_case_count": "Cases of rejections as the profile counts them.",
    "true_positive_reject_count": "Steps rejected and so labelled.",
    "true_negative_reject_count": "Steps called and so labelled.",
    "false_positive_reject_count": "Steps rejected where a call was labelled.",
    "false_negative_reject_count": "Steps not rejected where a rejection was labelled.",
    "true_positive_call_count": "Steps called and so labelled.",
    "true_negative_call_count": "Steps not called where a rejection was labelled.",
    "false_positive_call_count": "Steps called where a rejection was labelled.",
    "false_negative_call_count": "Steps not called where a call was labelled.",
    "type_mismatch_count": "Steps rightly rejected with another type than the label's.",
    "failed_generation_count": "Steps that are neither call nor rejection.",
    "error_count": "Wrong rejections, missing ones and, where the profile says so, mismatches.",
    "right_decision_count": "Steps called or rejected as labelled, whatever the type.",
    "decision_accuracy": "Right decisions / scored steps; null where there are none.",
    "reject_precision": "TP / (TP + FP) of rejecting; null where nothing was rejected.",
    "reject_recall": "TP / (TP + FN) of rejecting; null where both are 0.",
    "reject_f1": "2 TP / (2 TP + FP + FN) of rejecting; null where none is labelled or answered.",
    "reject_accuracy": "(TP + TN) / all four counts of rejecting.",
    "call_precision": "TP / (TP + FP) of calling; null where nothing was called.",
    "call_recall": "TP / (TP + FN) of calling; null where no call is labelled.",
    "call_f1": "2 TP / (2 TP + FP + FN) of calling; null where none is labelled or made.",
    "call_accuracy": "(TP + TN) / all four counts of calling.",
    "overaction_rate": "Missing rejections / errors.",
    "underaction_rate": "Wrong rejections / errors.",
    "type_mismatch_rate": "Type mismatches / errors.",
    "rejection_type_accuracy": "Right rejections of the right type / right rejections.",
    "failed_call_rate": "Cases of calls that were not called / cases of calls.",
    "unusable_label_count": "Steps left out since their label cannot be used.",
    "surplus_answer_count": "Answers left out since their step has one already.",
    "unlabelled_answer_count": "Answers left out since no label has their step.",
    "unanswered_step_count": "Labelled steps left out since nobody answered them.",
    "void_step_count": "Steps left out since one malformed answer voids the file.",
    # Cells of the confusion matrix
    "step_count": "Scored steps of the cell.",
    "actual_step_count": "Scored steps with the cell's label.",
    "predicted_step_count": "Scored steps with the cell's answer.",
    "actual_share": "Share of the label's steps that were answered so; recall on the diagonal.",
    "predicted_share": "Share of the answer's steps that are labelled so; precision if equal.",
    # Error patterns and failures
    "error_pattern": "overaction, underaction, type_mismatch, failed_call or failed_rejection.",
    "occurrence_count": "Scored steps on which the pattern occurs.",
    "opportunity_count": "Scored steps on which the pattern could occur.",
    "occurrence_rate": "Occurrences / opportunities.",
    "wrong_step_count": "Scored steps with any of the patterns.",
    "error_share": "Occurrences of the pattern / steps with any pattern.",
    "unit": "step (of a sub-agent) or plan.",
    "failure_reason": "Why the answer failed, such as missing, empty, malformed or no_workflow.",
    "failure_count": "Scored answers that failed for this reason.",
    "scored_unit_count": "Scored steps, or plans, of the model.",
    "failed_unit_count": "Scored steps, or plans, of the model that failed.",
    "failure_rate": "Failures for this reason / scored steps or plans.",
    "failure_share": "Failures for this reason / all failures.",
    # Calls: names, keys, values
    "call_scored_count": "Steps that count in name, key and value F1.",
    "call_run_count": "Runs that the file's call scores are the mean of.",
    "name_f1": "F1 of tool names: of a step, or its mean over steps, runs and files; 0 to 1.",
    "key_f1": "F1 of argument keys: of a step, or its mean over steps, runs and files; 0 to 1.",
    "value_f1": "F1 of argument values: of a step, or its mean over steps, runs, files; 0 to 1.",
    "file_call_f1": "Mean of the file's name, key and value F1; null where no call is labelled.",
    "name_f1_sum": "Sum of name F1 over call-scored steps.",
    "key_f1_sum": "Sum of key F1 over call-scored steps.",
    "value_f1_sum": "Sum of value F1 over call-scored steps.",
    "call_f1_sum": "Sum of name, key and value F1 over call-scored steps.",
    "mean_name_f1": "Mean name F1 of call-scored steps, every step weighing the same.",
    "mean_key_f1": "Mean key F1 of call-scored steps, every step weighing the same.",
    "mean_value_f1": "Mean value F1 of call-scored steps, every step weighing the same.",
    "mean_function_call_f1": "Mean of name, key and value F1 over call-scored steps.",
    "labelled_step_count": "Scored steps whose label has the row's tool or rejection type.",
    "answered_step_count": "Scored steps whose answer has the row's tool or rejection type.",
    "is_labelled": "The label calls the tool.",
    "is_answered": "The answer calls the tool.",
    "tool_true_positive_count": "Steps that wanted the tool and called it.",
    "tool_false_positive_count": "Steps that called the tool and did not want it.",
    "tool_false_negative_count": "Steps that wanted the tool and did not call it.",
    "tool_precision": "Wanted and called / called; null where never called.",
    "tool_recall": "Wanted and called / wanted; null where never wanted.",
    "tool_f1": "F1 of choosing the tool.",
    "overaction_count": "Steps that called the tool where a rejection was due.",
    "replaced_step_count": "Steps that wanted the tool and got a call without it.",
    "rejected_step_count": "Steps that wanted the tool and were rejected.",
    "failed_step_count": "Steps whose label has the row's tool or type, and that failed.",
    "argument_count": "Call-scored steps in which label or answer has the key.",
    "judged_argument_count": "Of these, those that the judge decided.",
    "judged_rate": "Arguments that the judge decided / arguments.",
    "key_precision": "Shared keys / keys of the answers.",
    "key_recall": "Shared keys / keys of the labels.",
    "key_micro_f1": "F1 of argument keys from summed counts.",
    "value_precision": "Matching values / values of the answers.",
    "value_recall": "Matching values / values of the labels.",
    "value_micro_f1": "F1 of argument values from summed counts.",
    "list_text": "A JSON list as stored in another table.",
    "item": "An item of the list, as text.",
    # Types of rejection
    "rejection_type": "Type of rejection, or `rejection` for labels that name none.",
    "type_true_positive_count": "Steps of the type that were rejected with it (untyped: at all).",
    "type_false_positive_count": "Steps rejected with the type and labelled otherwise.",
    "type_false_negative_count": "Steps of the type that were answered otherwise.",
    "called_step_count": "Steps of the type on which a tool was called.",
    "type_precision": "Rightly so rejected / rejected with the type; null where never.",
    "type_recall": "Rightly so rejected / labelled with the type; null where never.",
    "type_f1": "F1 of recognising the type; null for untyped labels.",
    # Plans
    "plan_count": "Plans that count.",
    "failed_plan_count": "Plans that count and could not be read.",
    "read_plan_count": "Plans that count and could be read.",
    "perfect_plan_count": "Plans that equal their label in both graphs.",
    "failed_plan_generation_count": "Failures as the profile counts them: of plans, or of entries.",
    "inexact_plan_count": "Plans with a distance bounded by the step budget, not exact.",
    "left_out_plan_count": "Planning answers or labels that do not count.",
    "plan_with_failure_count": "What plan similarity is divided by under the profile.",
    "plan_without_failure_count": "What read plan similarity is divided by under the profile.",
    "plan_similarity_sum": "Sum of plan similarity over plans, failed ones as 0.",
    "structure_similarity_sum": "Sum of structure similarity over plans, failed ones as 0.",
    "component_similarity_sum": "Sum of component similarity over plans, failed ones as 0.",
    "plan_similarity": "Similarity of plans, failed ones as 0; of a model, the mean over files.",
    "read_plan_similarity": "Similarity without failed plans, as the profile leaves them out.",
    "structure_similarity": "Similarity of workflow graphs; of a model, the mean over files.",
    "component_similarity": "Similarity of step graphs; of a model, the mean over files.",
    "failed_plan_rate": "Failed plans / plans.",
    "perfect_plan_rate": "Perfect plans / plans.",
    "mean_plan_similarity": "Mean over plans, each weighing the same, failed ones as 0.",
    "mean_read_plan_similarity": "Mean over the plans that could be read; null if none could.",
    "mean_structure_similarity": "Mean structure similarity over plans, failed ones as 0.",
    "mean_component_similarity": "Mean component similarity over plans, failed ones as 0.",
    "kind": "What is wrong, such as missing_workflow or wrong_agent.",
    "edit_count": "Edits of this kind.",
    "edit_cost": "What the edits of this kind cost together.",
    "graph_edit_cost": "What all edits of the graph cost together.",
    "edit_cost_share": "Cost of this kind / cost of all edits of the graph.",
    "edited_plan_count": "Plans with at least one edit of this kind.",
    "edited_plan_rate": "Plans with an edit of this kind / plans that could be read.",
    "mean_edit_count": "Edits of this kind / plans that could be read; may exceed 1.",
    "mean_edit_cost": "Cost of this kind / plans that could be read; may exceed 1.",
    # Languages
    "metric": "Metric, by its column in `model_scores`.",
    "score_en": "The metric in English.",
    "score_ko": "The metric in Korean.",
    "en_file_count": "English scenario files behind it.",
    "ko_file_count": "Korean scenario files behind it.",
    "language_gap": "Korean minus English; null where one is undefined.",
    # Usage and cost
    "token_file_count": "Files that state their tokens.",
    "cost_file_count": "Files that state their cost.",
    "token_run_count": "Runs of the files that state their tokens.",
    "cost_run_count": "Runs of the files that state their cost.",
    "mean_file_tokens": "Tokens / files that state them.",
    "mean_run_tokens": "Tokens / runs of the files that state them.",
    "mean_file_cost": "Cost / files that state it.",
    "mean_run_cost": "Cost / runs of the files that state it.",
    "score_per_cost": "Average score / mean cost of a run; null where it costs nothing.",
    "is_pareto_optimal": "No other model is as good for less, or better for as little.",
    # Scenarios over models
    "part_sum": "Sum of the defined parts: decision accuracy, file call F1, plan similarity.",
    "part_count": "Parts that are defined, 0 to 3.",
    "scenario_score": "Mean of the defined parts, 0 to 1; not the headline metric.",
    "scenario_count": "Scenarios of the model that have a score.",
    "scenario_score_sum": "Sum of the row's scenario scores.",
    "overall_score": "Mean scenario score of the model in the language.",
    "strength_rank": "Place by overall score in the profile and language.",
    "is_strong": "In the upper quarter by overall score.",
    "attempt_count": "Models, each experiment counted, that have a score here.",
    "mean_scenario_score": "Mean scenario score over attempts: low is hard.",
    "attempt_score_sum": "Sum of the attempts' scores of the step.",
    "mean_attempt_score": "Mean score of the step over attempts: low is hard.",
    "least_score": "Score of the worst attempt.",
    "greatest_score": "Score of the best attempt.",
    "score_range": "Greatest minus least score.",
    "score_deviation": "Sample standard deviation over attempts; null with one.",
    "discrimination": "Correlation with the score of the attempts' other scenarios, -1 to 1.",
    "is_dead": "Every attempt has the same score; null with one.",
    "strong_attempt_count": "Strong attempts that have a score here.",
    "failing_strong_attempt_count": "Of these, those below half of their own overall score.",
    "is_suspicious": "Every strong attempt fails; null where there is none.",
    # The judge
    "answer_values": "The answer's values as compared, a JSON list of texts.",
    "label_values": "The label's values as compared, a JSON list of texts.",
    "true_positive_count": "Matching values of the key, as counted with the verdict.",
    "false_positive_count": "Unmatched values of the answer, as counted with the verdict.",
    "false_negative_count": "Unmatched values of the label, as counted with the verdict.",
    "compared_true_positive_count": "Matching values of the key, had there been no verdict.",
    "compared_false_positive_count": "Unmatched values of the answer, had there been no verdict.",
    "compared_false_negative_count": "Unmatched values of the label, had there been no verdict.",
    "compared_value_true_positive_count": "Matching values of the step without this verdict.",
    "compared_value_false_positive_count": "Unmatched answer values without this verdict.",
    "compared_value_false_negative_count": "Unmatched label values without this verdict.",
    "compared_value_f1": "Value F1 of the step without this verdict.",
    "value_f1_change": "Value F1 of the step minus what it would be without this verdict.",
    "is_changed": "The verdict changed the counts of its key.",
    "asked_key_count": "Keys that the judge was asked about.",
    "answered_key_count": "Asked keys with a usable verdict.",
    "unasked_key_count": "Keys that the judge spoke of unasked.",
    "usable_key_count": "Keys with a usable verdict, asked or not.",
    "used_key_count": "Verdicts that decided a key.",
    "unused_key_count": "Usable verdicts that decided nothing.",
    "changed_key_count": "Verdicts that changed the counts of their key.",
    "raised_key_count": "Verdicts that raised the value F1 of their step.",
    "lowered_key_count": "Verdicts that lowered the value F1 of their step.",
    "no_answer_count": "Asked keys without usable verdict: the judge said nothing.",
    "no_object_count": "Asked keys without usable verdict: no JSON object in what it said.",
    "no_key_count": "Asked keys without usable verdict: the key is not in its object.",
    "no_verdict_count": "Asked keys without usable verdict: the key has no counts.",
    "usable_rate": "Asked keys with a usable verdict / asked keys.",
    "used_rate": "Verdicts that decided a key / usable verdicts.",
    "changed_rate": "Verdicts that changed counts / verdicts that decided a key.",
}
# Floats may be null, since an undefined score is; of the other columns only these.
MAY_BE_NULL = frozenset(
    {
        "agent_id",
        "answer_position",
        "input_token_count",
        "is_dead",
        "is_pareto_optimal",
        "is_suspicious",
        "output_token_count",
        "total_token_count",
        "usage_call_count",
    }
)
_KINDS: dict[str, Kind] = {
    "VARCHAR": "text",
    "BIGINT": "int",
    "INTEGER": "int",
    "DOUBLE": "float",
    "BOOLEAN": "bool",
}


def describe_view(connection: duckdb.DuckDBPyConnection, view: View) -> Table:
    """What a view is, in the form of a table: its grain, and its columns as DuckDB has them."""
    described = connection.execute(f"describe main.{view.name}").fetchall()
    columns = (_column(name, _KINDS[kind]) for name, kind, *_ in described)
    return Table(view.name, view.grain, tuple(columns))


def _column(name: str, kind: Kind) -> Column:
    return Column(name, kind, described_columns()[name], kind == "float" or name in MAY_BE_NULL)


@cache
def described_columns() -> dict[str, str]:
    """The meaning of every known column: of keys, of the glossary, and where tables agree on it."""
    meanings: dict[str, set[str]] = {}
    for table in TABLES.values():
        for column in table.columns:
            meanings.setdefault(column.name, set()).add(column.description)
    agreed = {name: texts.pop() for name, texts in meanings.items() if len(texts) == 1}
    keys = {column.name: column.description for column in (PROFILE_NAME, *STEP_KEY)}
    return agreed | keys | DESCRIPTIONS
