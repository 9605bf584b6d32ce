"""A profile is a frozen set of named scoring rules; flip one and see what it does."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from orchbench_analytics.errors import ProfileError


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Every choice that scoring leaves open; the defaults are the profile `spec`.

    For each rule the first value is what `spec` does, the others what another profile may do.
    """

    name: str = "spec"

    scored_from: Literal["answers", "results"] = "answers"

    # Decisions: call, reject or failed
    scored_unit: Literal["labelled_step", "answer"] = "labelled_step"
    untyped_rejection: Literal["matches_any_type", "matches_untyped_only"] = "matches_any_type"
    unusable_label: Literal["left_out", "scored"] = "left_out"
    empty_gold_calls: Literal["no_call", "call"] = "no_call"
    silence: Literal["failed", "call"] = "failed"
    rejection_marker: Literal["after_thinking", "anywhere"] = "after_thinking"
    content_parts: Literal["joined", "whole_parts"] = "joined"
    rejection_argument: Literal["ignored", "rejects"] = "ignored"
    nameless_call: Literal["not_a_call", "call"] = "not_a_call"
    call_in_text: Literal["recovered", "ignored"] = "recovered"
    failed_rejection: Literal["not_counted", "false_negative"] = "not_counted"
    mismatch_totals: Literal["summed", "zero"] = "summed"
    error_total: Literal["with_mismatches", "without_mismatches"] = "with_mismatches"
    case_totals: Literal["by_label", "by_call_key"] = "by_label"

    # Function calls: names, keys, values
    rejected_call: Literal["left_out", "zero"] = "left_out"
    no_arguments: Literal["one", "zero"] = "one"
    verdict: Literal["replaces_unmatched", "replaces_all"] = "replaces_unmatched"
    verdict_match: Literal["verified", "by_position"] = "verified"
    judge_reasoning: Literal["read", "choices_only"] = "read"
    unsound_verdict: Literal["ignored", "zero"] = "ignored"
    unsound_schema: Literal["ignored", "key_f1"] = "ignored"
    invalid_arguments: Literal["none", "error_key"] = "none"
    malformed_answer: Literal["scored", "voids_file"] = "scored"
    value_mean: Literal["all_steps", "positive_only"] = "all_steps"
    run_mean: Literal["scored_runs", "all_runs"] = "scored_runs"
    addition: Literal["exact", "in_order"] = "exact"

    # Plans
    plan_runs: Literal["all", "numbered"] = "all"
    plan_step: Literal["as_text", "as_number"] = "as_text"
    plan_entry: Literal["first", "last_read"] = "first"
    plan_content: Literal["text_parts", "text_only"] = "text_parts"
    plan_search: Literal["thorough", "basic"] = "thorough"
    plan_values: Literal["as_text", "as_typed"] = "as_text"
    failed_plan: Literal["once", "per_entry"] = "once"
    without_failure: Literal["excludes_failed", "includes_failed"] = "excludes_failed"
    structure_edges: Literal["every_dependency", "depends_on_only"] = "every_dependency"
    component_edges: Literal["every_dependency", "first_present"] = "every_dependency"
    malformed_plan: Literal["ignored", "voids_run"] = "ignored"
    distance: Literal["exact", "networkx"] = "exact"
    lone_self_loop: Literal["counted", "free"] = "counted"
    agent_weight: float = 0.8
    status_weight: float = 0.2

    # Overall
    undefined: Literal["null", "zero"] = "null"
    rounding: Literal["none", "four_digits"] = "none"


SPEC = Profile()
STRICT = replace(SPEC, name="strict", failed_rejection="false_negative", rejected_call="zero")
UPSTREAM = Profile(
    name="upstream",
    scored_unit="answer",
    untyped_rejection="matches_untyped_only",
    unusable_label="scored",
    empty_gold_calls="call",
    silence="call",
    rejection_marker="anywhere",
    content_parts="whole_parts",
    rejection_argument="rejects",
    nameless_call="call",
    call_in_text="ignored",
    mismatch_totals="zero",
    error_total="without_mismatches",
    case_totals="by_call_key",
    no_arguments="zero",
    verdict="replaces_all",
    verdict_match="by_position",
    judge_reasoning="choices_only",
    unsound_verdict="zero",
    unsound_schema="key_f1",
    invalid_arguments="error_key",
    malformed_answer="voids_file",
    value_mean="positive_only",
    run_mean="all_runs",
    addition="in_order",
    plan_runs="numbered",
    plan_step="as_number",
    plan_entry="last_read",
    plan_content="text_only",
    plan_search="basic",
    plan_values="as_typed",
    failed_plan="per_entry",
    without_failure="includes_failed",
    structure_edges="depends_on_only",
    component_edges="first_present",
    malformed_plan="voids_run",
    distance="networkx",
    lone_self_loop="free",
    undefined="zero",
    rounding="four_digits",
)
BUILT_IN: dict[str, Profile] = {p.name: p for p in (SPEC, STRICT, UPSTREAM)}
REPORTED = replace(
    UPSTREAM,
    name="reported",
    scored_from="results",
    mismatch_totals="summed",
    error_total="with_mismatches",
)
"""What an evaluator's result files say of each scenario, added up as the evaluator does."""
_RESERVED = (*BUILT_IN, REPORTED.name)
WEIGHTS = ("agent_weight", "status_weight")
PLAN_RULES = (
    *("plan_runs", "plan_step", "plan_entry", "plan_content", "plan_search", "plan_values"),
    *("failed_plan", "structure_edges", "component_edges", "malformed_plan", "distance"),
    "lone_self_loop",
    *WEIGHTS,
)
"""The rules that the scores of plans depend on; those of steps depend on none of them."""


def rule_choices() -> dict[str, tuple[str, ...]]:
    """The named rules and the values each may take, in order of definition."""
    hints = get_type_hints(Profile)
    names = (field.name for field in fields(Profile))
    return {n: get_args(hints[n]) for n in names if get_args(hints[n])}


def flip(profile: Profile, rule: str, other: Profile) -> Profile:
    """`profile` with one rule taken from `other`."""
    return replace(profile, name=f"{profile.name}+{rule}", **{rule: getattr(other, rule)})


def load_profile(name_or_path: str) -> Profile:
    """A built-in profile by name, or one from a TOML file (a `base`, then the rules to change)."""
    if name_or_path in BUILT_IN:
        return BUILT_IN[name_or_path]
    path = Path(name_or_path)
    if path.suffix != ".toml":
        raise ProfileError(
            f"no profile named {name_or_path!r}: expected one of {', '.join(BUILT_IN)}, "
            "or the path of a .toml file"
        )
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
            known = [*choices, *WEIGHTS]
            close = get_close_matches(rule, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ProfileError(
                f"{where}: no rule named {rule!r}; the rules are {', '.join(known)}{hint}"
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
    """The profile that `rules_of` flattened."""
    return Profile(**rules)
