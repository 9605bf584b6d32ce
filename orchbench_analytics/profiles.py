"""Every scoring rule in one declaration, and the profiles: frozen sets of choices among them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from orchbench_analytics.errors import ProfileError, suggest


class Rule(NamedTuple):
    """What a rule decides, what each choice does, and what the built-in profiles choose.

    The first choice is that of `spec`; a profile that `chosen_by` does not name chooses as the one
    that it is based on. A weight has no choices. The scores of plans depend on the rules with
    `is_of_plans` and on no others; the scores of steps do not depend on them.
    """

    sentence: str
    choices: Mapping[str, str]
    chosen_by: Mapping[str, str] = MappingProxyType({})
    is_of_plans: bool = False


def rule(
    sentence: str, choices: Mapping[str, str], *, is_of_plans: bool = False, **chosen_by: str
) -> Any:
    """A rule of `Profile`: `upstream="call"` says that the profile upstream chooses call."""
    declared = Rule(sentence, choices, chosen_by, is_of_plans)
    return field(default=next(iter(choices)), metadata={"rule": declared})


def weight(sentence: str, default: float) -> Any:
    """A rule of `Profile` that is a number from 0 to 1: a cost in the distance of plans."""
    return field(default=default, metadata={"rule": Rule(sentence, {}, is_of_plans=True)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Every choice that scoring leaves open; the defaults are the profile `spec`."""

    name: str = "spec"

    scored_from: str = rule(
        "What the scores of a scenario are made from.",
        {
            "answers": "The answers of its runs.",
            "results": "Its row in an evaluator's result file, as it is.",
        },
        reported="results",
    )

    # Decisions: call, reject or failed
    scored_unit: str = rule(
        "What is scored as one decision.",
        {
            "labelled_step": "Every labelled step counts once, with its first answer or none.",
            "answer": "Every answer counts, labelled or not; a step without one does not.",
        },
        upstream="answer",
    )
    untyped_rejection: str = rule(
        "Whether a rejection with a type fits a label that names no type.",
        {
            "matches_any_type": "Any rejection is right where the label names no type.",
            "matches_untyped_only": "A rejection with a type is a mismatch there.",
        },
        upstream="matches_untyped_only",
    )
    unusable_label: str = rule(
        "How to treat a step whose gold call the benchmark could not read.",
        {
            "left_out": "The step is left out and counted as left out.",
            "scored": "The step is scored against what the label holds.",
        },
        upstream="scored",
    )
    empty_gold_calls: str = rule(
        "How to read a label with an empty list of calls.",
        {
            "no_call": "It wants no call, like a label without a list.",
            "call": "It wants a call, of no tool and without arguments.",
        },
        upstream="call",
    )
    silence: str = rule(
        "How to treat an answer that neither calls a tool nor rejects.",
        {
            "failed": "It is a failed generation.",
            "call": "It is a call of no tool and without arguments.",
        },
        upstream="call",
    )
    rejection_marker: str = rule(
        "Where to look for the name of a rejection type in a text.",
        {
            "after_thinking": "After the last `</think>`.",
            "anywhere": "In the whole text.",
        },
        upstream="anywhere",
    )
    content_parts: str = rule(
        "How to read a content that is a list or an object.",
        {
            "joined": "The text parts of a list are joined; an object is not a text.",
            "whole_parts": "A whole item or key must be the name of a rejection type.",
        },
        upstream="whole_parts",
    )
    rejection_argument: str = rule(
        "How to treat a call that has a rejection type as an argument key.",
        {
            "ignored": "It is a call like any other.",
            "rejects": "It is a rejection of that type.",
        },
        upstream="rejects",
    )
    nameless_call: str = rule(
        "How to treat a call whose name is not a text, or is empty.",
        {
            "not_a_call": "It is not a call, and its arguments do not count.",
            "call": "It is a call, whatever stands for its name, and its arguments count.",
        },
        upstream="call",
    )
    call_in_text: str = rule(
        "How to treat a call that was written as JSON text.",
        {
            "recovered": "It is a call.",
            "ignored": "It is only a text.",
        },
        upstream="ignored",
    )
    failed_rejection: str = rule(
        "How a failed generation counts where the label wants a rejection.",
        {
            "not_counted": "It does not count against the recall of rejections.",
            "false_negative": "It is a rejection that was missed.",
        },
        strict="false_negative",
    )
    mismatch_totals: str = rule(
        "How to sum type mismatches and failed generations over files.",
        {
            "summed": "They are summed.",
            "zero": "They are printed as 0.",
        },
        upstream="zero",
        reported="summed",
    )
    error_total: str = rule(
        "What the rates of error patterns are divided by.",
        {
            "with_mismatches": "Wrong decisions and rejections of the wrong type.",
            "without_mismatches": "Wrong decisions only.",
        },
        upstream="without_mismatches",
        reported="with_mismatches",
    )
    case_totals: str = rule(
        "How to count the cases that want a call or a rejection.",
        {
            "by_label": "By what the scored labels want.",
            "by_call_key": "By whether the label has a key `N-1`.",
        },
        upstream="by_call_key",
    )

    # Function calls: names, keys, values
    rejected_call: str = rule(
        "What a rejection scores as a call where the label wants a call.",
        {
            "left_out": "It stays out of the call scores.",
            "zero": "It scores 0.",
        },
        strict="zero",
    )
    no_arguments: str = rule(
        "The value F1 where neither side has arguments.",
        {
            "one": "It is 1.",
            "zero": "It is 0.",
        },
        upstream="zero",
    )
    verdict: str = rule(
        "What a judge's verdict on a key replaces.",
        {
            "replaces_unmatched": "Only the unmatched values; confirmed matches stay.",
            "replaces_all": "All counts of the key; without a verdict the matches are lost.",
        },
        upstream="replaces_all",
    )
    verdict_match: str = rule(
        "Which verdict belongs to a key.",
        {
            "verified": "The one in its place whose values are those that were scored.",
            "by_position": "The one in its place.",
        },
        upstream="by_position",
    )
    judge_reasoning: str = rule(
        "When the judge's reasoning counts as its answer.",
        {
            "read": "Whenever the content beside it is blank.",
            "choices_only": "When that content is under `choices`; a bare message has no answer.",
        },
        upstream="choices_only",
    )
    unsound_verdict: str = rule(
        "How to treat a verdict whose counts are not numbers, or that was never logged.",
        {
            "ignored": "The key counts as compared.",
            "zero": "The value F1 of the whole call is 0.",
        },
        upstream="zero",
    )
    unsound_schema: str = rule(
        "How a schema type of an unknown name, a list as tool name, or a judge's log that is cut "
        "off affects its run.",
        {
            "ignored": "Not at all.",
            "key_f1": "The value F1 of every call in the run is its key F1.",
        },
        upstream="key_f1",
    )
    invalid_arguments: str = rule(
        "How to treat arguments that are not JSON.",
        {
            "none": "The call has a name and no arguments.",
            "error_key": "They are the argument `error`, which counts its characters if alone.",
        },
        upstream="error_key",
    )
    malformed_answer: str = rule(
        "How an answer of an impossible shape affects its file.",
        {
            "scored": "Not at all: the answer is scored as it stands, and flagged.",
            "voids_file": "The file has 0 in every figure of calls and decisions.",
        },
        upstream="voids_file",
    )
    value_mean: str = rule(
        "Which steps the value F1 of a run is averaged over.",
        {
            "all_steps": "All scored steps.",
            "positive_only": "The steps that score above 0.",
        },
        upstream="positive_only",
    )
    run_mean: str = rule(
        "Which runs the call scores of a file are averaged over.",
        {
            "scored_runs": "Runs with a label that wants a call.",
            "all_runs": "All runs; one without a score has 0.",
        },
        upstream="all_runs",
    )
    addition: str = rule(
        "How to add up call scores over the steps of a run and the runs of a file.",
        {
            "exact": "Exactly, so that their order does not matter.",
            "in_order": "One after another as the document has them, in floating point.",
        },
        upstream="in_order",
    )

    # Plans
    plan_runs: str = rule(
        "Which of n runs have their plans scored.",
        {
            "all": "All of them.",
            "numbered": "Those named `run #1` to `run #n`.",
        },
        upstream="numbered",
        is_of_plans=True,
    )
    plan_step: str = rule(
        "Which main-agent entries answer a labelled step.",
        {
            "as_text": "Those whose step id reads the same, as a number or a text.",
            "as_number": "Those whose step id is that number.",
        },
        upstream="as_number",
        is_of_plans=True,
    )
    plan_entry: str = rule(
        "Which of several entries for a planning step counts.",
        {
            "first": "The first entry.",
            "last_read": "The last entry in which a plan can be read.",
        },
        upstream="last_read",
        is_of_plans=True,
    )
    plan_content: str = rule(
        "Which contents to look for a plan in.",
        {
            "text_parts": "Texts, and the joined text parts of a list.",
            "text_only": "Texts only.",
        },
        upstream="text_only",
        is_of_plans=True,
    )
    plan_search: str = rule(
        "How far to look for a plan in a text.",
        {
            "thorough": "Also from the first `{` at which a JSON object with a workflow starts.",
            "basic": "Only in the places where the public evaluator looks.",
        },
        upstream="basic",
        is_of_plans=True,
    )
    plan_values: str = rule(
        "How agents, statuses and dependencies compare.",
        {
            "as_text": "By their texts.",
            "as_typed": "As Python values: a number and its text differ.",
        },
        upstream="as_typed",
        is_of_plans=True,
    )
    failed_plan: str = rule(
        "How often a plan that cannot be read counts as failed.",
        {
            "once": "Once.",
            "per_entry": "Once for each entry without a plan, and once for the label.",
        },
        upstream="per_entry",
        is_of_plans=True,
    )
    without_failure: str = rule(
        "Which plans the plan score without failures is averaged over.",
        {
            "excludes_failed": "The plans that could be read.",
            "includes_failed": "All plans, failed ones being 0.",
        },
        upstream="includes_failed",
    )
    structure_edges: str = rule(
        "Which dependencies are edges of the workflow graph.",
        {
            "every_dependency": "Those under `depends_on` and `depend_on`, text or list.",
            "depends_on_only": "Those under `depends_on`; a text counts letter by letter.",
        },
        upstream="depends_on_only",
        is_of_plans=True,
    )
    component_edges: str = rule(
        "Which dependencies are edges of the graph of steps.",
        {
            "every_dependency": "Those under `depends_on` and `depend_on`, text or list.",
            "first_present": "A list under `depends_on`, else what is under `depend_on`.",
        },
        upstream="first_present",
        is_of_plans=True,
    )
    malformed_plan: str = rule(
        "How a plan with parts of an impossible shape affects its run.",
        {
            "ignored": "Not at all: the parts are left out, and the plan is flagged.",
            "voids_run": "The plans of the run are left out of scores and counts.",
        },
        upstream="voids_run",
        is_of_plans=True,
    )
    distance: str = rule(
        "How the distance of two graphs is found.",
        {
            "exact": "By an exact search.",
            "networkx": "By networkx, which can be too low where an edge leads back to its node.",
        },
        upstream="networkx",
        is_of_plans=True,
    )
    lone_self_loop: str = rule(
        "What a self-loop costs if neither graph has more than one node and only one has the loop.",
        {
            "counted": "It counts 1, like any other edge, as in networkx 3.6.",
            "free": "It counts nothing, as in networkx 3.5, which the public evaluator uses.",
        },
        upstream="free",
        is_of_plans=True,
    )
    agent_weight: float = weight("The cost of a step whose agent is wrong and status right.", 0.8)
    status_weight: float = weight("The cost of a step whose status is wrong and agent right.", 0.2)

    # Overall
    undefined: str = rule(
        "What a score is if there is nothing to compute it from.",
        {
            "null": "It is null, and stays out of means.",
            "zero": "It is 0.",
        },
        upstream="zero",
    )
    rounding: str = rule(
        "Where figures are rounded.",
        {
            "none": "Nowhere; only printed results have 4 digits.",
            "four_digits": "To 4 digits at each step, as the public evaluator does.",
        },
        upstream="four_digits",
    )


RULES: dict[str, Rule] = {
    declared.name: declared.metadata["rule"]
    for declared in fields(Profile)
    if "rule" in declared.metadata
}
WEIGHTS = tuple(name for name, declared in RULES.items() if not declared.choices)
PLAN_RULES = tuple(name for name, declared in RULES.items() if declared.is_of_plans)
"""The rules that the scores of plans depend on; those of steps depend on none of them."""


def rule_choices() -> dict[str, tuple[str, ...]]:
    """The rules that have named choices, and these choices, in order of declaration."""
    return {name: tuple(declared.choices) for name, declared in RULES.items() if declared.choices}


def _built_in(name: str, base: Profile) -> Profile:
    """The base with what the rules say that the profile of this name chooses."""
    chosen: dict[str, Any] = {
        rule_name: declared.chosen_by[name]
        for rule_name, declared in RULES.items()
        if name in declared.chosen_by
    }
    return replace(base, name=name, **chosen)


SPEC = Profile()
STRICT = _built_in("strict", SPEC)
UPSTREAM = _built_in("upstream", SPEC)
REPORTED = _built_in("reported", UPSTREAM)
"""What an evaluator's result files say of each scenario, added up as the evaluator does."""
BUILT_IN: dict[str, Profile] = {p.name: p for p in (SPEC, STRICT, UPSTREAM)}
_RESERVED = (*BUILT_IN, REPORTED.name)


def flip(profile: Profile, rule: str, other: Profile) -> Profile:
    """`profile` with one rule taken from `other`."""
    return replace(profile, name=f"{profile.name}+{rule}", **{rule: getattr(other, rule)})


def load_profile(name_or_path: str) -> Profile:
    """A built-in profile by name, or one from a TOML file (a `base`, then the rules to change)."""
    if name_or_path in BUILT_IN:
        return BUILT_IN[name_or_path]
    path = Path(name_or_path)
    if path.suffix != ".toml":
        file = path.with_name(f"{path.name}.toml") if path.name else path
        hint = f"did you mean {file}?" if file.is_file() else suggest(name_or_path, BUILT_IN)
        raise ProfileError(f"no profile named {name_or_path!r}, nor is it a .toml file; {hint}")
    try:
        rules = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ProfileError(f"no such profile file: {path}") from error
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path}: not valid TOML: {error}") from error
    return profile_from_rules(rules, where=str(path), default_name=path.stem)


def profile_from_rules(rules: dict[str, Any], *, where: str, default_name: str) -> Profile:
    """Check rules by name and value and lay them over their base profile."""
    rules = dict(rules)
    base_name = rules.pop("base", "spec")
    if not isinstance(base_name, str) or base_name not in BUILT_IN:
        raise ProfileError(f"{where}: base = {base_name!r}: expected one of {', '.join(BUILT_IN)}")
    name = rules.pop("name", default_name)
    if not isinstance(name, str) or not name or name in _RESERVED:
        raise ProfileError(
            f"{where}: name = {name!r}: expected a text other than {', '.join(_RESERVED)}"
        )
    choices = rule_choices()
    del choices["scored_from"]  # rules are applied to answers: results are as they are
    for rule, value in rules.items():
        if rule in WEIGHTS:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 <= value <= 1:
                raise ProfileError(f"{where}: {rule} = {value!r}: expected a number from 0 to 1")
            rules[rule] = float(value)
        elif rule not in choices:
            hint = suggest(rule, [*choices, *WEIGHTS])
            raise ProfileError(
                f"{where}: no rule named {rule!r}; {hint}; orchbench profile show spec lists them"
            )
        elif value not in choices[rule]:
            raise ProfileError(
                f"{where}: {rule} = {value!r}: expected one of {', '.join(choices[rule])}"
            )
    return replace(BUILT_IN[base_name], name=name, **rules)


def rules_of(profile: Profile) -> dict[str, str | float]:
    """The profile as a flat mapping of rule to choice."""
    return asdict(profile)


def plan_rules_of(profile: Profile) -> dict[str, str | float]:
    """The choices on which the scores of plans depend."""
    return {rule: getattr(profile, rule) for rule in PLAN_RULES}


def step_rules_of(profile: Profile) -> dict[str, str | float]:
    """All other choices: the scores of steps depend on no more."""
    return {r: c for r, c in rules_of(profile).items() if r != "name" and r not in PLAN_RULES}


def profile_of(rules: Mapping[str, Any]) -> Profile:
    """The profile that `rules_of` flattened; an error in plain words if it has other rules."""
    known = {declared.name for declared in fields(Profile)}
    differing = sorted(known ^ rules.keys())
    if differing:
        raise ProfileError(
            f"the profile {rules.get('name')!r} was scored by another release, whose rules were "
            f"others ({', '.join(differing)}); bring the scores up to date with: orchbench ingest"
        )
    return Profile(**rules)


def updated_profile(rules: Mapping[str, Any]) -> Profile:
    """A profile as another release stored it, with the rules of this release.

    A built-in one is what it is now. In any other, rules and choices that are gone are dropped, and
    new rules are chosen as by the built-in profile that agrees with it most.
    """
    built_in = {**BUILT_IN, REPORTED.name: REPORTED}
    if rules["name"] in built_in:
        return built_in[rules["name"]]
    choices = rule_choices()
    kept = {
        name: value
        for name, value in rules.items()
        if name in ("name", *WEIGHTS) or value in choices.get(name, ())
    }
    base = max(
        BUILT_IN.values(), key=lambda p: sum(getattr(p, name) == kept[name] for name in kept)
    )
    return replace(base, **kept)
