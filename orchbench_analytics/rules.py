"""Every scoring rule in words: a sentence for the rule, and one for each of its choices."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """What a rule decides, and what each choice does; a weight has no choices."""

    sentence: str
    choices: dict[str, str]


RULES: dict[str, Rule] = {
    "scored_from": Rule(
        "What the scores of a scenario are made from.",
        {
            "answers": "From the answers of its runs.",
            "results": "From its row in an evaluator's result file, as it is.",
        },
    ),
    "scored_unit": Rule(
        "What is scored as one decision.",
        {
            "labelled_step": "Every labelled step counts once, with its first answer or none.",
            "answer": "Every answer counts, labelled or not; a step without one does not.",
        },
    ),
    "untyped_rejection": Rule(
        "Whether a rejection with a type fits a label that names no type.",
        {
            "matches_any_type": "Any rejection is right where the label names no type.",
            "matches_untyped_only": "A rejection with a type is a mismatch there.",
        },
    ),
    "unusable_label": Rule(
        "What happens to a step whose gold call the benchmark could not read.",
        {
            "left_out": "The step is left out and counted as left out.",
            "scored": "The step is scored against what the label holds.",
        },
    ),
    "empty_gold_calls": Rule(
        "What a label with an empty list of calls wants.",
        {
            "no_call": "It wants no call, like a label without a list.",
            "call": "It wants a call, of no tool and without arguments.",
        },
    ),
    "silence": Rule(
        "What an answer is that neither calls nor rejects.",
        {
            "failed": "It is a failed generation.",
            "call": "It is a call of no tool and without arguments.",
        },
    ),
    "rejection_marker": Rule(
        "Where the name of a rejection type is looked for in a text.",
        {"after_thinking": "After the last `</think>`.", "anywhere": "In the whole text."},
    ),
    "content_parts": Rule(
        "How a content is read that is a list or an object.",
        {
            "joined": "The text parts of a list are joined; an object is not a text.",
            "whole_parts": "A whole item or key must be the name of a rejection type.",
        },
    ),
    "rejection_argument": Rule(
        "What a call does that has a rejection type as an argument key.",
        {"ignored": "It is a call like any other.", "rejects": "It is a rejection of that type."},
    ),
    "nameless_call": Rule(
        "What a call is whose name is not a text, or is empty.",
        {
            "not_a_call": "It is not a call, and its arguments do not count.",
            "call": "It is a call: what stands for the name is a name, and its arguments count.",
        },
    ),
    "call_in_text": Rule(
        "What a call is that was written as JSON text.",
        {"recovered": "It is a call.", "ignored": "It is just a text."},
    ),
    "failed_rejection": Rule(
        "What a failed generation is where a rejection was due.",
        {
            "not_counted": "It does not count against the recall of rejections.",
            "false_negative": "It is a rejection that was missed.",
        },
    ),
    "mismatch_totals": Rule(
        "How type mismatches and failed generations are summed over files.",
        {"summed": "They are summed.", "zero": "They are printed as 0."},
    ),
    "error_total": Rule(
        "What the rates of error patterns are divided by.",
        {
            "with_mismatches": "Wrong decisions and rejections of the wrong type.",
            "without_mismatches": "Wrong decisions only.",
        },
    ),
    "case_totals": Rule(
        "How the cases that want a call or a rejection are counted.",
        {
            "by_label": "By what the scored labels want.",
            "by_call_key": "By whether the label has a key `N-1`.",
        },
    ),
    "rejected_call": Rule(
        "What a rejection scores for calls where a call was due.",
        {"left_out": "It stays out of the call scores.", "zero": "It scores 0."},
    ),
    "no_arguments": Rule(
        "The value F1 where neither side has arguments.",
        {"one": "It is 1.", "zero": "It is 0."},
    ),
    "verdict": Rule(
        "What a judge's verdict on a key replaces.",
        {
            "replaces_unmatched": "Only the unmatched values; confirmed matches stay.",
            "replaces_all": "All counts of the key; without a verdict the matches are lost.",
        },
    ),
    "verdict_match": Rule(
        "Which verdict belongs to a key.",
        {
            "verified": "The one in its place whose values are those that were scored.",
            "by_position": "The one in its place.",
        },
    ),
    "judge_reasoning": Rule(
        "When the judge's reasoning counts as its answer.",
        {
            "read": "Whenever the content beside it is blank.",
            "choices_only": "When that content is under `choices`; a bare message has no answer.",
        },
    ),
    "unsound_verdict": Rule(
        "What a verdict does whose counts are not numbers, or that was never logged.",
        {"ignored": "The key stands as compared.", "zero": "The value F1 of the whole call is 0."},
    ),
    "unsound_schema": Rule(
        "What a schema type of unknown name, a list as tool name, or a judge's log that is cut off "
        "does to its run.",
        {"ignored": "Nothing.", "key_f1": "The value F1 of every call in the run is its key F1."},
    ),
    "invalid_arguments": Rule(
        "What arguments are that are not JSON.",
        {
            "none": "The call has a name and no arguments.",
            "error_key": "They are the argument `error`, which counts its characters if alone.",
        },
    ),
    "malformed_answer": Rule(
        "What an answer of impossible shape does to its file.",
        {
            "scored": "Nothing: the answer is scored as it stands, and flagged.",
            "voids_file": "The file has 0 in every figure of calls and decisions.",
        },
    ),
    "value_mean": Rule(
        "Which steps the value F1 of a run is the mean of.",
        {"all_steps": "All scored steps.", "positive_only": "The steps that score above 0."},
    ),
    "run_mean": Rule(
        "Which runs the call scores of a file are the mean of.",
        {
            "scored_runs": "Runs with a label that wants a call.",
            "all_runs": "All runs; one without a score has 0.",
        },
    ),
    "addition": Rule(
        "How call scores are added up over the steps of a run and the runs of a file.",
        {
            "exact": "Exactly, so that their order does not matter.",
            "in_order": "One after another as the document has them, in floating point.",
        },
    ),
    "plan_runs": Rule(
        "Which of n runs have their plans scored.",
        {"all": "All of them.", "numbered": "Those named `run #1` to `run #n`."},
    ),
    "plan_step": Rule(
        "When a main-agent entry answers a labelled step.",
        {
            "as_text": "When its step id reads the same, number or text.",
            "as_number": "When its step id is that number.",
        },
    ),
    "plan_entry": Rule(
        "Which of several entries for a planning step counts.",
        {"first": "The first entry.", "last_read": "The last entry in which a plan can be read."},
    ),
    "plan_content": Rule(
        "Which contents a plan is looked for in.",
        {"text_parts": "Texts, and the joined text parts of a list.", "text_only": "Texts only."},
    ),
    "plan_search": Rule(
        "How far a plan is looked for in a text.",
        {
            "thorough": "Also from the first `{` at which a JSON object with a workflow starts.",
            "basic": "Only in the places where the public evaluator looks.",
        },
    ),
    "plan_values": Rule(
        "How agents, statuses and dependencies compare.",
        {
            "as_text": "By their texts.",
            "as_typed": "As Python values: a number and its text differ.",
        },
    ),
    "failed_plan": Rule(
        "How often a plan that cannot be read counts as failed.",
        {
            "once": "Once.",
            "per_entry": "Once for each entry without a plan, and once for the label.",
        },
    ),
    "without_failure": Rule(
        "What the plan score without failures is the mean of.",
        {
            "excludes_failed": "The plans that could be read.",
            "includes_failed": "All plans, failed ones being 0.",
        },
    ),
    "structure_edges": Rule(
        "Which dependencies are edges of the workflow graph.",
        {
            "every_dependency": "Those under `depends_on` and `depend_on`, text or list.",
            "depends_on_only": "Those under `depends_on`; a text counts letter by letter.",
        },
    ),
    "component_edges": Rule(
        "Which dependencies are edges of the graph of steps.",
        {
            "every_dependency": "Those under `depends_on` and `depend_on`, text or list.",
            "first_present": "A list under `depends_on`, else what is under `depend_on`.",
        },
    ),
    "malformed_plan": Rule(
        "What a plan with parts of impossible shape does to its run.",
        {
            "ignored": "Nothing: the parts are left out, and the plan is flagged.",
            "voids_run": "The plans of the run vanish from scores and counts.",
        },
    ),
    "distance": Rule(
        "How the distance of two graphs is found.",
        {
            "exact": "By an exact search.",
            "networkx": "By networkx, which can be too low where an edge leads back to its node.",
        },
    ),
    "lone_self_loop": Rule(
        "What a self-loop costs that only one of two graphs of at most one node has.",
        {
            "counted": "It counts 1, like any other edge, as in networkx 3.6.",
            "free": "It counts nothing, as in networkx 3.5, which the public evaluator uses.",
        },
    ),
    "agent_weight": Rule("The cost of a step whose agent is wrong and status right.", {}),
    "status_weight": Rule("The cost of a step whose status is wrong and agent right.", {}),
    "undefined": Rule(
        "What a score is that has nothing to be formed from.",
        {"null": "It is null, and stays out of means.", "zero": "It is 0."},
    ),
    "rounding": Rule(
        "Where figures are rounded.",
        {
            "none": "Nowhere; only printed results have 4 digits.",
            "four_digits": "To 4 digits on the way, as the public evaluator does.",
        },
    ),
}
